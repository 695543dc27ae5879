import { setImmediate as nextTurn } from 'node:timers/promises';
import { addBackgroundJob } from '../../storage/background-job.ts';
import type { Context } from '../context.ts';
import { createAuditStore, type AuditStore } from './store.ts';
import { firstIdOf } from './read-audit.ts';
import { addAuditRoutes } from './routes.ts';
import { minuteMs, hourMs, dayMs } from '@phalanx/timing/durations';

/** Time for which refusals of one kind are counted before their number is noted. */
const countingMs = 5 * minuteMs;

/** Serves the audit log, and deletes its old entries. */
export function serveAudit(context: Context): void {
  const { app, config, database, audit, clock } = context;
  const store = createAuditStore(database);
  addAuditRoutes(app, store);
  addBackgroundJob(context, {
    name: 'delete old audit events',
    everyMs: hourMs,
    atStart: true,
    work: () => deleteOldEntries(store, clock.now(), config.auditDays),
  });
  addBackgroundJob(context, {
    name: 'store counted refusals',
    everyMs: countingMs,
    onEachServer: true,
    work: () => audit.flush(),
  });
}

/** Maximum number of entries without a user: anyone can cause refusals, so age is not the only limit. */
const keptOfStrangers = 100_000;

/** Deletes entries older than the retention of the audit log. */
async function deleteOldEntries(store: AuditStore, nowMs: number, auditDays: number): Promise<void> {
  const limit = firstIdOf(Math.max(0, nowMs - auditDays * dayMs));
  while ((await store.deleteSomeBefore(limit)) > 0) await nextTurn();
  while ((await store.deleteSomeOfStrangers(keptOfStrangers)) > 0) await nextTurn();
}
