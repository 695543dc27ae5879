import { setImmediate as nextTurn } from 'node:timers/promises';

import { firstIdOf } from './read-audit.ts';
import type { AuditStore } from './store.ts';

const dayMs = 24 * 60 * 60 * 1000;
/** Anybody can be refused anything, so there is a limit beside their age. */
const keptOfStrangers = 100_000;

/** Deletes what is older than the audit log is kept. */
export async function deleteOldEntries(store: AuditStore, nowMs: number, auditDays: number): Promise<void> {
  const limit = firstIdOf(Math.max(0, nowMs - auditDays * dayMs));
  while ((await store.deleteSomeBefore(limit)) > 0) await nextTurn();
  while ((await store.deleteSomeOfStrangers(keptOfStrangers)) > 0) await nextTurn();
}
