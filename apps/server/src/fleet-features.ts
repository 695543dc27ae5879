import path from 'node:path';

import { DeviceAccess, DeviceShares } from './devices/device-access.ts';
import { probeOfPart } from './faults/probe-folder.ts';
import { Fleet } from './devices/fleet.ts';
import { addControlRoutes } from './devices/control-routes.ts';
import { Leases } from './devices/leases.ts';
import { addMemberRoutes } from './devices/member-routes.ts';
import { addDeviceRoutes } from './devices/routes.ts';
import { createShareStore } from './devices/share-store.ts';
import { createDeviceStore } from './devices/store.ts';
import { EventBus, EventFeed, type FeedEvent } from './events/event-feed.ts';
import { addEventRoutes } from './events/routes.ts';
import type { Foundation } from './foundation.ts';
import { createMetrics, measureRequests, type Metrics } from './health/metrics.ts';
import { OpenStreams } from './http/open-streams.ts';
import { addLiveRoutes } from './live/routes.ts';
import { HostAdmission } from './hosts/host-admission.ts';
import { KnownHosts } from './hosts/known-hosts.ts';
import { createHostStore } from './hosts/store.ts';
import { createStoredBytes } from './limits/stored-bytes-store.ts';
import { LogIngest } from './logs/ingest.ts';
import { createKeptBytesStore } from './logs/kept/kept-bytes-store.ts';
import { KeptLogs } from './logs/kept/kept-logs.ts';
import { KeptQuota } from './logs/kept/kept-quota.ts';
import { LogKeeper } from './logs/kept/log-keeper.ts';
import { OrphanCleaner } from './logs/kept/orphan-cleaner.ts';
import { addRunLogRoutes } from './logs/kept/routes.ts';
import { addLogRoutes } from './logs/routes.ts';
import { LogStore } from './logs/store.ts';
import { periodically } from './periodically.ts';
import type { ProjectPeople } from './projects/project-people.ts';
import { ActiveRuns } from './runs/active-runs.ts';
import { RunAccess } from './runs/run-access.ts';
import { RunChangeStore } from './runs/run-change-store.ts';
import { RunLifecycle } from './runs/run-lifecycle.ts';
import { RunOwners } from './runs/run-owners.ts';
import { createRunStore, type RunStore } from './runs/store.ts';
import type { StoredRun } from './runs/stored-run.ts';

interface FleetSettings {
  people: ProjectPeople;
  heartbeatMs: number;
  /** How often what has expired is looked for. */
  sweepMs: number;
  lostAfterMs: number;
  /** What is kept of the log of a run. */
  runLogMb: number;
}

const hourMs = 60 * 60 * 1000;
const mebibyte = 1024 * 1024;

/** Hosts and their devices, runs and their logs, and the events of all that. */
export interface FleetFeatures {
  readonly devices: DeviceAccess;
  readonly runs: RunStore;
  readonly runAccess: RunAccess;
  readonly activeRuns: ActiveRuns;
  readonly feed: EventFeed;
  readonly keptLogs: KeptLogs;
  readonly metrics: Metrics;
  /** To be told of the runs that a launch begins. */
  readonly runsCreated: (rows: readonly StoredRun[]) => void;
}

/** The phones, with whom they are shared, and the hosts that have them. */
async function openDevices(
  { app, database, hosts, clock, limits }: Foundation,
  heartbeatMs: number,
): Promise<DeviceAccess> {
  const fleet = new Fleet({ store: createDeviceStore(database), clock, limits, heartbeatMs });
  const shares = new DeviceShares(createShareStore(database));
  await fleet.load();
  await shares.load();
  const access = new DeviceAccess(fleet, shares, new Leases({ clock, shares }));
  const store = createHostStore(database);
  const isConnected = hosts.isConnected.bind(hosts);
  const admission = new HostAdmission({ store, limits, clock, isConnected });
  hosts.admitBy((candidate) => admission.admit(candidate));
  const known = new KnownHosts(limits.most('hosts'));
  for (const { ownerId, stored } of fleet.all()) known.remember(ownerId, stored.host_id, stored.host_name);
  hosts.on('hello', (link) => {
    shares.noteName(link.userId, link.userName);
    known.connected(link, clock.now());
  });
  hosts.on('closed', (link) => known.disconnected(link, clock.now()));
  addMemberRoutes(app, access, known);
  return access;
}

async function openLifecycle(
  { clock, commits }: Foundation,
  { lostAfterMs }: FleetSettings,
  { runs, activeRuns, feed }: { runs: RunStore; activeRuns: ActiveRuns; feed: EventFeed },
): Promise<RunLifecycle> {
  const onChange = feed.runsChanged.bind(feed);
  const lifecycle = new RunLifecycle({
    ...{
      store: runs,
      changes: new RunChangeStore(commits, activeRuns),
      activeRuns,
      clock,
      lostAfterMs,
      onChange,
    },
  });
  await lifecycle.load();
  return lifecycle;
}

function openLogs(
  { app, database, dataDir, clock, limits, log, faults }: Foundation,
  { sweepMs, runLogMb }: FleetSettings,
  features: Omit<FleetFeatures, 'keptLogs' | 'runsCreated'>,
) {
  const { devices, runs, runAccess, activeRuns, feed, metrics } = features;
  const owners = new RunOwners(runs, activeRuns);
  const folder = path.join(dataDir, 'logs');
  const kept = new KeptLogs({ folder: path.join(dataDir, 'run-logs'), maxBytes: runLogMb * mebibyte });
  const keptSeqOf = async (runId: string): Promise<number> => (await kept.stateOf(runId)).seq;
  const store = new LogStore({ folder, clock, log, keptSeqOf });
  faults.addProbe('disk', probeOfPart(folder));
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
    ingest.flush();
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
    periodically(faults, sweepMs, () => keeper.keep()),
  );
  const orphans = new OrphanCleaner(kept, (runIds) => runs.listByIds(runIds));
  app.addHook(
    'onClose',
    periodically(faults, hourMs, () => orphans.cleanNextPart()),
  );
  return { store, ingest, kept };
}

interface Hearers {
  fleet: Fleet;
  lifecycle: RunLifecycle;
  ingest: LogIngest;
}

function listenToHosts({ hosts }: Foundation, { fleet, lifecycle, ingest }: Hearers): void {
  // Runs first: a device that is ready must not seem free while a run of it is still unheard of.
  hosts.on('hello', (link, { runs }) => lifecycle.reconcile(link, runs));
  hosts.on('hello', (link, { devices }) => fleet.report(link, devices));
  hosts.on('devices', (link, reports) => fleet.report(link, reports));
  hosts.on('heartbeat', (link, ready) => fleet.confirm(link, ready));
  hosts.on('runs', (link, reports) => lifecycle.report(link, reports));
  hosts.on('logs', (link, runId, batch) => ingest.take(link, runId, batch));
  hosts.on('closed', (link) => {
    fleet.disconnect(link);
    lifecycle.disconnect(link);
    ingest.forget(link);
  });
}

function openStreams({ app, authenticator }: Foundation): OpenStreams {
  const streams = new OpenStreams();
  authenticator.onForget((tokenId) => streams.endOfToken(tokenId));
  app.addHook('preClose', async () => streams.endAll());
  return streams;
}

/** Throws when the folder of the logs can't be used. */
export async function openFleetFeatures(
  foundation: Foundation,
  settings: FleetSettings,
): Promise<FleetFeatures> {
  const { app, database, commits, hosts, clock, log, faults } = foundation;
  const runs = createRunStore(database, commits);
  const activeRuns = new ActiveRuns();
  const devices = await openDevices(foundation, settings.heartbeatMs);
  const { fleet } = devices;
  const runAccess = new RunAccess({ store: runs, devices, people: settings.people });
  await runAccess.load();
  const bus = new EventBus<FeedEvent>();
  const feed = new EventFeed({ bus, devices, activeRuns, runAccess, log });
  const lifecycle = await openLifecycle(foundation, settings, { runs, activeRuns, feed });
  const metrics = createMetrics({
    hosts: () => hosts.size,
    activeRuns: () => activeRuns.size,
    devices: () => fleet.countByState(),
    faults: () => faults.active,
    limits: foundation.limits,
    connections: () => foundation.connections.open,
  });
  const features = { devices, runs, runAccess, activeRuns, feed, metrics };
  const logs = openLogs(foundation, settings, features);
  listenToHosts(foundation, { fleet, lifecycle, ingest: logs.ingest });
  const streams = openStreams(foundation);
  addEventRoutes(app, bus, streams);
  measureRequests(app, metrics);
  addDeviceRoutes(app, { access: devices, activeRuns });
  addControlRoutes(app, devices);
  addLiveRoutes(app, { access: devices, webSockets: foundation.webSockets, streams });
  const endSweep = periodically(faults, settings.sweepMs, async () => {
    fleet.sweep();
    devices.leases.sweep(fleet);
    hosts.dropExpired();
    streams.endExpired(clock.now());
    logs.store.expire();
    await lifecycle.sweep();
  });
  app.addHook('onClose', endSweep);
  const runsCreated = (rows: readonly StoredRun[]): void => {
    for (const row of rows) {
      runAccess.note(row);
      logs.store.begin(row.id);
    }
    feed.runsChanged(rows);
  };
  return { ...features, keptLogs: logs.kept, runsCreated };
}
