import path from 'node:path';

import { isPostgres } from './db/dialect.ts';
import { byOneServer } from './db/locks.ts';
import type { DeviceAccess } from './devices/device-access.ts';
import type { EventFeed } from './events/event-feed.ts';
import { probeOfPart } from './faults/probe-folder.ts';
import type { Foundation } from './foundation.ts';
import type { Metrics } from './health/metrics.ts';
import { createStoredBytes } from './limits/stored-bytes-store.ts';
import { LogIngest } from './logs/ingest.ts';
import { FolderChunks } from './logs/kept/folder-chunks.ts';
import { createKeptBytesStore } from './logs/kept/kept-bytes-store.ts';
import { createKeptChunkStore } from './logs/kept/kept-chunk-store.ts';
import { KeptLogs } from './logs/kept/kept-logs.ts';
import { KeptQuota } from './logs/kept/kept-quota.ts';
import { LogKeeper } from './logs/kept/log-keeper.ts';
import { OrphanCleaner } from './logs/kept/orphan-cleaner.ts';
import { addRunLogRoutes } from './logs/kept/routes.ts';
import type { LogStore } from './logs/log-store.ts';
import { addLogRoutes } from './logs/routes.ts';
import { SegmentLogs } from './logs/segments/segment-logs.ts';
import { createLogTablesStore } from './logs/tables/log-tables-store.ts';
import { TableLogs } from './logs/tables/table-logs.ts';
import { periodically } from './periodically.ts';
import type { ActiveRuns } from './runs/active-runs.ts';
import type { RunAccess } from './runs/run-access.ts';
import { RunOwners } from './runs/run-owners.ts';
import type { RunStore } from './runs/store.ts';

interface LogSettings {
  /** How often what has expired is looked for. */
  sweepMs: number;
  /** What is kept of the log of a run. */
  runLogMb: number;
}

interface Neighbours {
  devices: DeviceAccess;
  runs: RunStore;
  runAccess: RunAccess;
  activeRuns: ActiveRuns;
  feed: EventFeed;
  metrics: Metrics;
}

/** What hosts log, and what is kept of it. */
export interface LogFeatures {
  readonly store: LogStore;
  readonly ingest: LogIngest;
  readonly kept: KeptLogs;
}

const hourMs = 60 * 60 * 1000;
const mebibyte = 1024 * 1024;

type Stores = Pick<LogFeatures, 'store' | 'kept'>;

async function openTables({ database, bus, clock }: Foundation, maxBytes: number): Promise<Stores> {
  const chunks = createKeptChunkStore(database);
  const kept = new KeptLogs({ chunks, maxBytes, isShared: bus !== undefined });
  return { kept, store: await TableLogs.open({ store: createLogTablesStore(database), clock }) };
}

function openFolders(foundation: Foundation, runs: RunStore, maxBytes: number): Stores {
  const { app, dataDir, clock, log, faults } = foundation;
  const chunks = new FolderChunks(path.join(dataDir, 'run-logs'));
  const kept = new KeptLogs({ chunks, maxBytes, isShared: false });
  const orphans = new OrphanCleaner({ chunks, kept, listExisting: (runIds) => runs.listByIds(runIds) });
  app.addHook(
    'onClose',
    periodically(faults, hourMs, () => orphans.cleanNextPart()),
  );
  const folder = path.join(dataDir, 'logs');
  const keptSeqOf = async (runId: string): Promise<number> => (await kept.stateOf(runId)).seq;
  const store = new SegmentLogs({ folder, clock, log, keptSeqOf });
  faults.addProbe('disk', probeOfPart(folder));
  return { kept, store };
}

/** Throws when the folder of the logs can't be used. */
export async function openLogFeatures(
  foundation: Foundation,
  { sweepMs, runLogMb }: LogSettings,
  { devices, runs, runAccess, activeRuns, feed, metrics }: Neighbours,
): Promise<LogFeatures> {
  const { app, database, clock, limits, log, faults } = foundation;
  const maxBytes = runLogMb * mebibyte;
  const { store, kept } = isPostgres(database)
    ? await openTables(foundation, maxBytes)
    : openFolders(foundation, runs, maxBytes);
  const owners = new RunOwners(runs, activeRuns);
  const ingest = new LogIngest({
    ...{ store, limits, log, faults },
    findStream: (link, runId) => owners.findStream(link, runId),
    onStored: (batch) => {
      metrics.logEntries.inc(batch.count);
      feed.logsStored(batch);
    },
  });
  addLogRoutes(app, { devices, runAccess, store, clock });
  app.addHook('onClose', async () => {
    await ingest.close();
    store.close();
  });
  addRunLogRoutes(app, { store, kept, access: runAccess, findRun: (runId) => runs.find(runId) });
  const storedBytes = createStoredBytes(database);
  const quota = new KeptQuota({
    ...{ kept, limits, bytes: createKeptBytesStore(database) },
    used: (userId) => storedBytes.count(userId, 'logs'),
  });
  const keeper = new LogKeeper({ store, kept, quota, clock, faults });
  app.addHook(
    'onClose',
    periodically(
      faults,
      sweepMs,
      byOneServer(database, 'keep logs', () => keeper.keep()),
    ),
  );
  return { store, ingest, kept };
}
