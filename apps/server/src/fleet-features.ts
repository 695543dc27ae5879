import path from 'node:path';

import { probeOfPart } from './faults/probe-folder.ts';
import { Fleet } from './devices/fleet.ts';
import { addDeviceRoutes } from './devices/routes.ts';
import { createDeviceStore } from './devices/store.ts';
import { EventBus } from './events/event-bus.ts';
import { EventFeed, type FeedEvent } from './events/event-feed.ts';
import { addEventRoutes, type OpenStreams } from './events/routes.ts';
import type { Foundation } from './foundation.ts';
import { createMetrics, measureRequests, type Metrics } from './health/metrics.ts';
import { LogIngest } from './logs/ingest.ts';
import { addLogRoutes } from './logs/routes.ts';
import { LogStore } from './logs/store.ts';
import { periodically } from './periodically.ts';
import { ActiveRuns } from './runs/active-runs.ts';
import { RunLifecycle } from './runs/run-lifecycle.ts';
import { RunOwners } from './runs/run-owners.ts';
import { createRunStore, type RunStore } from './runs/store.ts';

interface FleetSettings {
  heartbeatMs: number;
  /** How often what has expired is looked for. */
  sweepMs: number;
  lostAfterMs: number;
}

/** Hosts and their devices, runs and their logs, and the events of all that. */
export interface FleetFeatures {
  readonly fleet: Fleet;
  readonly runs: RunStore;
  readonly activeRuns: ActiveRuns;
  readonly feed: EventFeed;
  readonly metrics: Metrics;
}

async function openLifecycle(
  { clock }: Foundation,
  { lostAfterMs }: FleetSettings,
  { runs, activeRuns, feed }: { runs: RunStore; activeRuns: ActiveRuns; feed: EventFeed },
): Promise<RunLifecycle> {
  const onChange = feed.runsChanged.bind(feed);
  const lifecycle = new RunLifecycle({ store: runs, activeRuns, clock, lostAfterMs, onChange });
  await lifecycle.load();
  return lifecycle;
}

function openLogs(
  { app, dataDir, clock, log, faults }: Foundation,
  { fleet, runs, feed, metrics }: FleetFeatures,
) {
  const owners = new RunOwners(runs);
  const folder = path.join(dataDir, 'logs');
  const store = new LogStore({ folder, clock, log });
  faults.addProbe('disk', probeOfPart(folder));
  const ingest = new LogIngest({
    ...{ store, log, faults },
    findStream: (link, runId) => owners.findStream(link, runId),
    onStored: (batch) => {
      metrics.logEntries.inc(batch.count);
      feed.logsStored(batch);
    },
  });
  addLogRoutes(app, { fleet, store, clock });
  app.addHook('onClose', async () => {
    ingest.flush();
    store.close();
  });
  return { store, ingest };
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

function openEvents({ app, authenticator }: Foundation, bus: EventBus<FeedEvent>): OpenStreams {
  const streams = addEventRoutes(app, bus);
  authenticator.onForget((tokenId) => streams.endOfToken(tokenId));
  app.addHook('preClose', async () => streams.endAll());
  return streams;
}

/** Throws when the folder of the logs can't be used. */
export async function openFleetFeatures(
  foundation: Foundation,
  settings: FleetSettings,
): Promise<FleetFeatures> {
  const { app, database, commits, hosts, clock, faults } = foundation;
  const runs = createRunStore(database, commits);
  const activeRuns = new ActiveRuns();
  const fleet = new Fleet({ store: createDeviceStore(database), clock, heartbeatMs: settings.heartbeatMs });
  await fleet.load();
  const bus = new EventBus<FeedEvent>();
  const feed = new EventFeed({ bus, fleet, activeRuns });
  const lifecycle = await openLifecycle(foundation, settings, { runs, activeRuns, feed });
  const metrics = createMetrics({
    hosts: () => hosts.size,
    activeRuns: () => activeRuns.size,
    devices: () => fleet.countByState(),
    faults: () => faults.active,
  });
  const features = { fleet, runs, activeRuns, feed, metrics };
  const logs = openLogs(foundation, features);
  listenToHosts(foundation, { fleet, lifecycle, ingest: logs.ingest });
  const streams = openEvents(foundation, bus);
  measureRequests(app, metrics);
  addDeviceRoutes(app, { fleet, activeRuns });
  const endSweep = periodically(faults, settings.sweepMs, async () => {
    fleet.sweep();
    hosts.dropExpired();
    streams.endExpired(clock.now());
    logs.store.expire();
    await lifecycle.sweep();
  });
  app.addHook('onClose', endSweep);
  return features;
}
