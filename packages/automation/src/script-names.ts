/** Name of a run's own code in stack traces before they are mapped to the user's files. */
export const userScriptName = 'phalanx:run';

/** Name of the prelude in stack traces, whose frames are never shown to users. */
export const preludeScriptName = 'phalanx:prelude';
