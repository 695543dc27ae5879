import { DeviceAccess, DeviceShares } from './devices/device-access.ts';
import { Fleet } from './devices/fleet.ts';
import { addControlRoutes } from './devices/control-routes.ts';
import { Leases } from './devices/leases.ts';
import { addMemberRoutes } from './devices/member-routes.ts';
import { addDeviceRoutes } from './devices/routes.ts';
import { createShareStore } from './devices/share-store.ts';
import { createPlacedDeviceStore } from './devices/placed-device-store.ts';
import { createDeviceStore } from './devices/store.ts';
import { EventBus, EventFeed, type FeedEvent } from './events/event-feed.ts';
import { addEventRoutes } from './events/routes.ts';
import type { Foundation } from './foundation.ts';
import { createMetrics, measureRequests, type Metrics } from './health/metrics.ts';
import { OpenStreams } from './http/open-streams.ts';
import { addLiveRoutes } from './live/routes.ts';
import { HostSessions } from './hosts/host-sessions.ts';
import { createKnownHostStore } from './hosts/known-host-store.ts';
import { KnownHosts } from './hosts/known-hosts.ts';
import { LinkedHosts } from './hosts/linked-hosts.ts';
import { createHostStore } from './hosts/store.ts';
import { openLogFeatures } from './log-features.ts';
import type { LogIngest } from './logs/ingest.ts';
import type { KeptLogs } from './logs/kept/kept-logs.ts';
import { periodically } from './periodically.ts';
import type { ProjectPeople } from './projects/project-people.ts';
import { ActiveRuns } from './runs/active-runs.ts';
import { RunAccess } from './runs/run-access.ts';
import { RunChangeStore } from './runs/run-change-store.ts';
import { RunLifecycle } from './runs/run-lifecycle.ts';
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

/** Hosts and their devices, runs and their logs, and the events of all that. */
export interface FleetFeatures {
  readonly devices: DeviceAccess;
  readonly hosts: LinkedHosts;
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
  { app, database, node, commits, hosts, clock, limits, faults }: Foundation,
  linked: LinkedHosts,
  heartbeatMs: number,
): Promise<{ devices: DeviceAccess; sessions: HostSessions }> {
  const sessions = new HostSessions({
    ...{ limits, clock, faults, node },
    store: createHostStore(database, commits),
  });
  const placed = createPlacedDeviceStore(database);
  const fleet = new Fleet({
    ...{ store: createDeviceStore(database, commits), placed, clock, limits, heartbeatMs, nodeId: node.id },
    endsStored: () => sessions.endsStored(),
  });
  const shares = new DeviceShares(createShareStore(database));
  await shares.load();
  const access = new DeviceAccess(fleet, shares, new Leases({ clock, shares }));
  hosts.admitBy(sessions);
  app.addHook('onClose', () => sessions.endsStored());
  hosts.on('hello', (link) => shares.noteName(link.userId, link.userName));
  const known = new KnownHosts({ store: createKnownHostStore(database), linked, nodeId: node.id });
  addMemberRoutes(app, { access, hosts: known });
  return { devices: access, sessions };
}

async function openLifecycle(
  { clock, commits }: Foundation,
  { lostAfterMs }: FleetSettings,
  features: { runs: RunStore; activeRuns: ActiveRuns; feed: EventFeed; sessions: HostSessions },
): Promise<RunLifecycle> {
  const { runs, activeRuns, feed, sessions } = features;
  const onChange = feed.runsChanged.bind(feed);
  const lifecycle = new RunLifecycle({
    ...{
      store: runs,
      changes: new RunChangeStore(commits, activeRuns),
      activeRuns,
      clock,
      lostAfterMs,
      onChange,
      listAway: (forMs) => sessions.listAway(forMs),
    },
  });
  await lifecycle.load();
  return lifecycle;
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
    ingest.forget(link);
    return fleet.disconnect(link);
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
  const linked = new LinkedHosts(hosts.on);
  const { devices, sessions } = await openDevices(foundation, linked, settings.heartbeatMs);
  const { fleet } = devices;
  const runAccess = new RunAccess({ store: runs, devices, people: settings.people });
  await runAccess.load();
  const bus = new EventBus<FeedEvent>();
  const feed = new EventFeed({ bus, devices, activeRuns, runAccess, log });
  const lifecycle = await openLifecycle(foundation, settings, { runs, activeRuns, feed, sessions });
  const metrics = createMetrics({
    hosts: () => hosts.size,
    activeRuns: () => activeRuns.size,
    devices: () => fleet.countByState(),
    faults: () => faults.active,
    limits: foundation.limits,
    connections: () => foundation.connections.open,
  });
  const features = { devices, hosts: linked, runs, runAccess, activeRuns, feed, metrics };
  const logs = await openLogFeatures(foundation, settings, features);
  listenToHosts(foundation, { fleet, lifecycle, ingest: logs.ingest });
  const streams = openStreams(foundation);
  addEventRoutes(app, bus, streams);
  measureRequests(app, metrics);
  const reaching = { access: devices, hosts: linked };
  addDeviceRoutes(app, { ...reaching, activeRuns });
  addControlRoutes(app, reaching);
  addLiveRoutes(app, { ...reaching, webSockets: foundation.webSockets, streams });
  const endSweep = periodically(faults, settings.sweepMs, async () => {
    await devices.leases.sweep(fleet);
    hosts.dropExpired();
    streams.endExpired(clock.now());
    await logs.store.expire();
    await fleet.sweep();
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
