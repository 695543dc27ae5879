import type { createActiveRunStore, RunToSend } from './active-run-store.ts';

/** The runs that have not ended, whichever server has their hosts. `ActiveRuns` has those of this server's hosts in memory. */
export type ActiveRunRows = ReturnType<typeof createActiveRunStore>;
export type { RunToSend };
