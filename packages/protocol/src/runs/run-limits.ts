/*
 * Limits that the processes of user code hold themselves. Nothing here imports TypeBox: these processes carry no schemas,
 * which would double the time that a sandbox takes to start.
 */

/** Maximum length of a project's paths. */
export const maxSourcePathLength = 1024;

/** In UTF-16 units. The sandbox cuts messages of the log here; a longer one does not fit the protocol. */
export const maxLogMessageLength = 64 * 1024;

/** The JSON of `agent.control.setResult` may have so many bytes. */
export const maxRunResultBytes = 64 * 1024;

/** Steps of a run that take longer than these rates allow are not recorded; the next recorded one tells how many. */
export const stepRate = { perSecond: 200, burst: 5000 };

/** Maximum length of the names of stages and screen states, in characters. */
export const maxStageLength = 500;

/** Maximum number of calls kept between two stored screens. */
export const maxRecordedCalls = 30;

/** Maximum length of a verdict's text on a replayed screen, in characters; the process cuts longer ones. */
export const maxVerdictTextLength = 4000;
export const maxVerdictActs = 20;
export const maxMissedSearches = 40;
/** Maximum length of one act or search in words, in characters. */
export const maxVerdictWordsLength = 300;
