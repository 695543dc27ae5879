import type { RunStore, StoredRun } from './store.ts';

export type { StoredRun };

/** What other features ask of the stored runs. */
export type RunHistory = Pick<RunStore, 'find' | 'listOfLaunch' | 'requestStop'>;
