import { setImmediate as nextTurn } from 'node:timers/promises';
import { addBackgroundJob } from '../../storage/background-job.ts';
import type { Context } from '../context.ts';
import { createAuditStore, type AuditStore } from './store.ts';
import { firstIdOf } from './read-audit.ts';
import { addAuditRoutes } from './routes.ts';
import { minuteMs, hourMs, dayMs } from '../../kernel/durations.ts';

/** Time for which refusals of one kind are counted before their number is noted. */
const countingMs = 5 * minuteMs;

/** Reading the audit log, and its retention. */
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

/** Anybody can be refused anything, so there is a limit beside their age. */
const keptOfStrangers = 100_000;

/** Deletes what is older than the audit log is kept. */
async function deleteOldEntries(store: AuditStore, nowMs: number, auditDays: number): Promise<void> {
  const limit = firstIdOf(Math.max(0, nowMs - auditDays * dayMs));
  while ((await store.deleteSomeBefore(limit)) > 0) await nextTurn();
  while ((await store.deleteSomeOfStrangers(keptOfStrangers)) > 0) await nextTurn();
}
