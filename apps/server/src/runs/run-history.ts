import type { RunStore } from './store.ts';

/** What other features ask of the stored runs. */
export type RunHistory = Pick<RunStore, 'find' | 'listOfLaunch' | 'requestStop'>;
