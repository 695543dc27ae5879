import { setTimeout as sleep } from 'node:timers/promises';
import type { LogEntry } from '@phalanx/protocol';

import type { Endurance } from './endurance.ts';

/** A log that is read from a place on. */
export interface LogPages {
  /** The entries after this place, as many as one reply holds; it moves behind them. Empty: nothing newer. */
  readPage(): Promise<LogEntry[]>;
}

/** A host says that a run has ended without waiting for the service to store its last lines. */
const quietMs = 1000;

type OnEntries = (entries: readonly LogEntry[]) => void;

/** Hands out all that there is now; false when there was nothing. */
export async function drain(endurance: Endurance, log: LogPages, onEntries: OnEntries): Promise<boolean> {
  for (let hasFound = false; ; hasFound = true) {
    const entries = await endurance.call(() => log.readPage());
    if (entries.length === 0) return hasFound;
    onEntries(entries);
  }
}

/** The same for a run that has ended: until nothing more has come for a while. */
export async function drainEnded(endurance: Endurance, log: LogPages, onEntries: OnEntries): Promise<void> {
  do await sleep(quietMs);
  while (await drain(endurance, log, onEntries));
}
