/*
 * Limits that the processes of user code enforce themselves. This file must not import TypeBox: these processes contain
 * no schemas, which would double the start time of a sandbox.
 */

/** Maximum length of a project's paths, in characters. */
export const maxSourcePathLength = 1024;

/**
 * Maximum length of a log message in UTF-16 units. The sandbox truncates longer messages, because the protocol refuses
 * them.
 */
export const maxLogMessageLength = 64 * 1024;

/** Maximum size of the JSON passed to `agent.control.setResult`, in bytes. */
export const maxRunResultBytes = 64 * 1024;

/** Rate limit of recorded steps. Steps beyond it are not recorded; the next recorded step contains their number. */
export const stepRate = { perSecond: 200, burst: 5000 };

/** Maximum length of the names of stages and screen states, in characters. */
export const maxStageLength = 500;

/** Maximum number of calls kept between two stored screens. */
export const maxRecordedCalls = 30;

/** Maximum length of a verdict's text on a replayed screen, in characters. The process truncates longer texts. */
export const maxVerdictTextLength = 4000;
export const maxVerdictActs = 20;
export const maxMissedSearches = 40;
/** Maximum length of the words for one call or search, in characters. */
export const maxVerdictWordsLength = 300;
