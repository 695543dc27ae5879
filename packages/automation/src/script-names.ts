/** The name under which a run's own code stands in stack traces, before they are mapped to the user's files. */
export const userScriptName = 'phalanx:run';

/** The name of the prelude in stack traces; its frames are never shown to users. */
export const preludeScriptName = 'phalanx:prelude';
