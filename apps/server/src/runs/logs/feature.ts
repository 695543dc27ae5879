import path from 'node:path';
import { addBackgroundJob } from '../../storage/background-job.ts';
import type { Context } from '../../http/context.ts';
import type { DeviceAccess } from '../../fleet/devices/device-access.ts';
import type { Hosts } from '../../fleet/hosts/feature.ts';
import type { Metrics } from '../../http/health/metrics.ts';
import { createFilmReader } from '../film/film-notes.ts';
import { createStoredBytes } from '../../storage/db/stored-bytes.ts';
import type { Runs } from '../runs/feature.ts';
import { RunOwners } from '../runs/run-owners.ts';
import { LogIngest } from './ingest.ts';
import { ArchivedLogs } from './kept/archived-logs.ts';
import { ArchiveQuota, deletedAtOnce, deleteLogs } from './kept/archive-quota.ts';
import { createKeptChunkStore } from './kept/kept-chunk-store.ts';
import { createKeptLogStore } from './kept/kept-log-store.ts';
import { LogArchiver } from './kept/keep-entries.ts';
import { addRunLogRoutes, addLogRoutes } from './routes.ts';
import type { EntryKind, LogBatch } from './log-batch.ts';
import { RecentLogs } from './tables/recent-logs.ts';
import { isPostgres } from '../../storage/db/dialect.ts';
import { minuteMs } from '@phalanx/timing/durations';
import { probeOfPart } from '../../kernel/faults/fault-monitor.ts';
import type { LogTables } from './tables/log-tables.ts';
import { createPostgresTables } from './tables/postgres-tables-store.ts';
import { createProgressStore } from './tables/progress-store.ts';
import { SqliteTables } from './tables/sqlite-tables-store.ts';

interface Dependencies {
  hosts: Hosts;
  devices: DeviceAccess;
  runs: Runs;
  metrics: Metrics;
}

type BatchListener = (batch: LogBatch) => void;

export interface Logs {
  onStored(listener: BatchListener): void;
}

const mebibyte = 1024 * 1024;

/**
 * Opens the console logs: the ingest, recent logs and archived logs. Throws when the folder of the logs can't be used.
 */
export async function openLogs(context: Context, dependencies: Dependencies): Promise<Logs> {
  const { app, clock, timing } = context;
  const { hosts, devices, runs, metrics } = dependencies;
  const stored: BatchListener[] = [({ count }) => metrics.logEntries.inc(count)];
  const store = await RecentLogs.open({ tables: openLogTables(context), clock });
  const ingest = openIngest(context, {
    hosts,
    runs,
    store,
    onStored: (batch) => {
      // Steps trigger no event: they are read when a user opens the run.
      if (batch.kind === 'log') stored.forEach((listener) => listener(batch));
    },
  });
  app.addHook('onClose', async () => {
    await ingest.close();
    store.close();
  });
  runs.onCreated((rows) => rows.forEach((row) => store.begin(row.id)));
  addLogRoutes(app, { devices, runAccess: runs.access, store, clock });
  addBackgroundJob(context, {
    name: 'delete expired logs',
    everyMs: timing.sweepMs,
    onEachServer: true,
    work: () => store.expire(),
  });
  openArchive(context, store, runs);
  return { onStored: (listener) => stored.push(listener) };
}

interface IngestDependencies {
  hosts: Hosts;
  runs: Runs;
  store: RecentLogs;
  onStored: BatchListener;
}

function openIngest(
  { limits, log, faults }: Context,
  { hosts, runs, store, onStored }: IngestDependencies,
): LogIngest {
  const owners = new RunOwners(runs.store, runs.activeRuns);
  const ingest = new LogIngest({
    store,
    limits,
    log,
    faults,
    onStored,
    findStream: (link, runId) => owners.findStream(link, runId),
  });
  hosts.gateway.on('logs', (link, runId, batch) => ingest.take(link, runId, batch));
  hosts.gateway.on('closed', (link) => ingest.forget(link));
  return ingest;
}

function openArchive(context: Context, store: RecentLogs, { store: runs, access }: Runs): void {
  const { app, config, database, clock, limits, faults, timing } = context;
  const archiveOf = (kind: EntryKind): ArchivedLogs =>
    new ArchivedLogs({ chunks: createKeptChunkStore(database, kind), maxBytes: config.runLogMb * mebibyte });
  const kept = { log: archiveOf('log'), trace: archiveOf('trace') };
  const storedBytes = createStoredBytes(database);
  const keptLogs = createKeptLogStore(database);
  const quota = new ArchiveQuota({
    kept: keptLogs,
    limits,
    used: (userId) => storedBytes.count(userId, 'logs'),
  });
  addRunLogRoutes(app, {
    store,
    kept,
    access,
    turns: limits.turns.searches,
    film: createFilmReader(database),
    findRun: (runId) => runs.find(runId),
  });
  const archiver = new LogArchiver({ store, kept, quota, clock, faults });
  addBackgroundJob(context, {
    name: 'archive logs',
    everyMs: timing.sweepMs,
    work: () => archiver.keep(),
  });
  context.workers.add({
    kind: 'delete kept logs',
    places: { all: 1, lane: 1 },
    itemsOfClaim: deletedAtOnce,
    claimMs: minuteMs,
    work: ({ items }) =>
      deleteLogs(
        keptLogs,
        items.map(({ key: runId }) => runId),
      ),
  });
}

/** Opens the tables of the recent logs. Throws when the folder of the logs can't be used. */
function openLogTables({ database, dataDir, clock, log, faults }: Context): LogTables {
  const progress = createProgressStore(database);
  if (isPostgres(database)) return createPostgresTables(database, progress);
  const folder = path.join(dataDir, 'logs');
  const tables = new SqliteTables({ folder, clock, log, progress });
  faults.addProbe('disk', probeOfPart(folder));
  return tables;
}
