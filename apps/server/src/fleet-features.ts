import { DeviceAccess, DeviceShares } from './devices/device-access.ts';
import { Fleet } from './devices/fleet.ts';
import { addControlRoutes } from './devices/control-routes.ts';
import { createLeaseStore } from './devices/lease-store.ts';
import { Leases } from './devices/leases.ts';
import { addMemberRoutes } from './devices/member-routes.ts';
import { addDeviceRoutes } from './devices/routes.ts';
import { createShareStore } from './devices/share-store.ts';
import { createPlacedDeviceStore } from './devices/placed-device-store.ts';
import { createDeviceStore } from './devices/store.ts';
import { type EventBus, EventsHere, SharedEvents } from './events/event-bus.ts';
import { EventFeed } from './events/event-feed.ts';
import { addEventRoutes } from './events/routes.ts';
import type { Foundation } from './foundation.ts';
import { createMetrics, measureRequests, type Metrics, type TogetherFigures } from './health/metrics.ts';
import { OpenStreams } from './http/open-streams.ts';
import { addLiveRoutes } from './live/routes.ts';
import { HostSessions } from './hosts/host-sessions.ts';
import { createKnownHostStore } from './hosts/known-host-store.ts';
import { KnownHosts } from './hosts/known-hosts.ts';
import { LinkedHosts } from './hosts/linked-hosts.ts';
import { ReplacedHosts } from './hosts/replaced-hosts.ts';
import { createHostStore } from './hosts/store.ts';
import { openLogFeatures } from './log-features.ts';
import type { LogIngest } from './logs/ingest.ts';
import type { KeptLogs } from './logs/kept/kept-logs.ts';
import { periodically } from './periodically.ts';
import type { ProjectPeople } from './projects/project-people.ts';
import { ActiveRuns } from './runs/active-runs.ts';
import { createPlacedRunStore } from './runs/placed-run-store.ts';
import type { PlacedRuns } from './runs/placed-runs.ts';
import { RunAccess } from './runs/run-access.ts';
import { RunChangeStore } from './runs/run-change-store.ts';
import { RunLifecycle } from './runs/run-lifecycle.ts';
import { RunNews } from './runs/run-news.ts';
import { runsInMemory, type RunsOnDevices, storedRuns } from './runs/runs-on-devices.ts';
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
  readonly runsOn: RunsOnDevices;
  /** Where there are several servers. */
  readonly placedRuns: PlacedRuns | undefined;
  readonly lifecycle: RunLifecycle;
  readonly feed: EventFeed;
  readonly keptLogs: KeptLogs;
  readonly metrics: Metrics;
  /** To be told of the runs that a launch begins. */
  readonly runsCreated: (rows: readonly StoredRun[]) => void;
}

/** The phones, with whom they are shared, and the hosts that have them. */
async function openDevices(
  { app, database, bus, changes, node, commits, hosts, clock, limits, faults }: Foundation,
  linked: LinkedHosts,
  heartbeatMs: number,
): Promise<{ devices: DeviceAccess; sessions: HostSessions }> {
  const hostStore = createHostStore(database, commits);
  const sessions = new HostSessions({ limits, clock, faults, node, store: hostStore });
  const placed = createPlacedDeviceStore(database);
  const fleet = new Fleet({
    ...{ store: createDeviceStore(database, commits), placed, clock, limits, heartbeatMs, nodeId: node.id },
    endsStored: () => sessions.endsStored(),
  });
  const shares = new DeviceShares(createShareStore(database));
  await shares.load();
  const leases = new Leases({
    ...{ clock, shares },
    store: changes === undefined ? undefined : createLeaseStore(database),
  });
  await leases.load();
  changes?.on('shares', () => shares.load());
  changes?.on('leases', () => leases.load());
  const access = new DeviceAccess(fleet, shares, leases);
  hosts.admitBy(sessions);
  if (bus !== undefined) {
    const replaced = new ReplacedHosts({ bus, store: hostStore, hosts, faults });
    app.addHook('onClose', () => replaced.close());
  }
  app.addHook('onClose', () => sessions.endsStored());
  hosts.on('hello', (link) => shares.noteName(link.userId, link.userName));
  const known = new KnownHosts({ store: createKnownHostStore(database), linked, nodeId: node.id });
  addMemberRoutes(app, { access, hosts: known });
  return { devices: access, sessions };
}

interface Runs {
  activeRuns: ActiveRuns;
  /** Where there are several servers. */
  placed: PlacedRuns | undefined;
}

/** What several servers tell each other of runs. */
function openNews({ app, bus, faults }: Foundation, { placed, activeRuns }: Runs): RunNews | undefined {
  if (bus === undefined || placed === undefined) return undefined;
  const news = new RunNews({ bus, placed, activeRuns, faults });
  app.addHook('onClose', () => news.close());
  return news;
}

async function openLifecycle(
  { clock, commits }: Foundation,
  { lostAfterMs }: FleetSettings,
  features: Runs & { runs: RunStore; sessions: HostSessions; onChange: (rows: readonly StoredRun[]) => void },
): Promise<RunLifecycle> {
  const { runs, activeRuns, placed, sessions, onChange } = features;
  const lifecycle = new RunLifecycle({
    ...{
      store: runs,
      changes: new RunChangeStore(commits, activeRuns),
      activeRuns,
      placed,
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
    lifecycle.disconnect(link);
    return fleet.disconnect(link);
  });
}

/** What goes to those who follow. */
function openEvents({ app, bus, others, node, faults }: Foundation): EventBus {
  if (bus === undefined || others === undefined) return new EventsHere();
  const events = new SharedEvents({ bus, others, nodeId: node.id, faults });
  app.addHook('onClose', () => events.close());
  return events;
}

function togetherFigures({ bus, changes, node }: Foundation): TogetherFigures | undefined {
  if (bus === undefined || changes === undefined) return undefined;
  return {
    node: node.name,
    isNatsConnected: () => bus.isConnected,
    changesAgeMs: () => changes.ageMs,
  };
}

function openStreams({ app, authenticator }: Foundation): OpenStreams {
  const streams = new OpenStreams();
  authenticator.onForget((tokenId) => streams.endOfToken(tokenId));
  authenticator.onRecheck(() => streams.tokenIds());
  app.addHook('preClose', async () => streams.endAll());
  return streams;
}

/** Throws when the folder of the logs can't be used. */
export async function openFleetFeatures(
  foundation: Foundation,
  settings: FleetSettings,
): Promise<FleetFeatures> {
  const { app, database, bus, commits, hosts, clock, limits, log, faults } = foundation;
  const runs = createRunStore(database, commits);
  const activeRuns = new ActiveRuns();
  const placed = bus === undefined ? undefined : createPlacedRunStore(database, commits);
  const runsOn = placed === undefined ? runsInMemory(activeRuns) : storedRuns(placed);
  limits.show('runs', (userId) => placed?.countOfUser(userId) ?? activeRuns.countOfUser(userId));
  const linked = new LinkedHosts(hosts.on, bus);
  const { devices, sessions } = await openDevices(foundation, linked, settings.heartbeatMs);
  const { fleet } = devices;
  const runAccess = new RunAccess({ store: runs, devices, people: settings.people });
  await runAccess.load();
  const events = openEvents(foundation);
  const feed = new EventFeed({ bus: events, devices, runsOn, runAccess, log });
  const news = openNews(foundation, { placed, activeRuns });
  const onChange = (rows: readonly StoredRun[]): void => {
    feed.runsChanged(rows);
    news?.tell(rows);
  };
  const lifecycle = await openLifecycle(foundation, settings, {
    ...{ runs, activeRuns, placed, sessions, onChange },
  });
  const metrics = createMetrics({
    hosts: () => hosts.size,
    activeRuns: () => activeRuns.size,
    devices: () => fleet.countByState(),
    faults: () => faults.active,
    limits: foundation.limits,
    connections: () => foundation.connections.open,
    together: togetherFigures(foundation),
  });
  const features = { devices, hosts: linked, runs, runAccess, activeRuns, feed, metrics };
  const ofRuns = { runsOn, placedRuns: placed, lifecycle };
  const logs = await openLogFeatures(foundation, settings, features);
  listenToHosts(foundation, { fleet, lifecycle, ingest: logs.ingest });
  const streams = openStreams(foundation);
  addEventRoutes(app, events, streams);
  measureRequests(app, metrics);
  const reaching = { access: devices, hosts: linked };
  addDeviceRoutes(app, { ...reaching, runsOn });
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
  return { ...features, ...ofRuns, keptLogs: logs.kept, runsCreated };
}
