import type { FastifyInstance } from 'fastify';
import type { Db } from './db/database.ts';
import { onOneServer } from './db/transactions.ts';
import type { FaultMonitor } from '../kernel/faults/fault-monitor.ts';
import { periodically } from '../kernel/periodically.ts';
import { SerialQueue } from '../kernel/serial-queue.ts';

interface BackgroundJob {
  /** A verb and its object, such as `delete old launches`; also the name of the job's lock. */
  name: string;
  everyMs: number;
  /** Whether the job also runs at the start. A server that restarts more often than `everyMs` would never run it. */
  atStart?: boolean;
  /** Whether every server runs the job, for state of its own; otherwise one server of the cluster at a time does. */
  onEachServer?: boolean;
  work: () => Promise<void> | void;
}

/** Adds a periodic job that ends with `app`. Returns a function that runs it now, after a run in progress. */
export function addBackgroundJob(
  { app, database, faults }: { app: FastifyInstance; database: Db; faults: FaultMonitor },
  { name, everyMs, atStart = false, onEachServer = false, work }: BackgroundJob,
): () => Promise<void> {
  const once = async (): Promise<void> => work();
  const locked = onEachServer ? once : onOneServer(database, name, once);
  const queue = new SerialQueue();
  const run = (): Promise<void> =>
    queue.run(locked).catch((error: unknown) => faults.report(error, `could not ${name}`));
  if (atStart) void run();
  const end = periodically(faults, everyMs, run);
  app.addHook('onClose', async () => {
    await end();
    await queue.whenIdle();
  });
  return run;
}
