import path from 'node:path';
import type { RecordReport } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';

import { EventBus } from './bus/event-bus.ts';
import type { Clock } from './clock.ts';
import type { Db } from './db/database.ts';
import type { GroupCommit } from './db/group-commit.ts';
import { Fleet } from './devices/fleet.ts';
import { addDeviceRoutes } from './devices/routes.ts';
import { createDeviceStore } from './devices/store.ts';
import { EventFeed, type FeedEvent } from './events/event-feed.ts';
import { addEventRoutes } from './events/routes.ts';
import { createMetrics, type Metrics } from './health/metrics.ts';
import { HostGateway } from './hosts/gateway.ts';
import { createHostEvents } from './hosts/host-events.ts';
import type { HostLink } from './hosts/host-link.ts';
import type { Authenticate } from './http/authentication.ts';
import { LogIngest } from './logs/ingest.ts';
import { addLogRoutes } from './logs/routes.ts';
import { LogStore } from './logs/store.ts';
import { periodically } from './periodically.ts';
import type { ExpectedCapture } from './records/expected-captures.ts';
import { ActiveRuns } from './runs/active-runs.ts';
import { addRunRoutes } from './runs/routes.ts';
import { RunLifecycle } from './runs/run-lifecycle.ts';
import { RunOwners } from './runs/run-owners.ts';
import { createRunStore, type RunStore } from './runs/store.ts';

interface FleetFeaturesOptions {
  database: Db;
  commits: GroupCommit;
  dataDir: string;
  authenticate: Authenticate;
  clock: Clock;
  log: Logger;
  heartbeatMs: number;
  /** How often what has expired is looked for. */
  sweepMs: number;
  lostAfterMs: number;
  takeRecord: (link: HostLink, report: RecordReport) => Promise<ExpectedCapture[]>;
}

/** Hosts and their devices, runs and their logs, and the events of all that. */
export interface FleetFeatures {
  readonly fleet: Fleet;
  readonly runs: RunStore;
  readonly activeRuns: ActiveRuns;
  readonly bus: EventBus<FeedEvent>;
  readonly feed: EventFeed;
  readonly gateway: HostGateway;
  readonly metrics: Metrics;
  addRoutes(app: FastifyInstance): void;
  /** Ends what was opened with a token that is no longer valid. */
  dropToken(tokenId: string): void;
  /** Ends connections and streams; call it before the HTTP server is closed. */
  disconnect(): void;
  close(): Promise<void>;
}

async function openRuns(
  options: FleetFeaturesOptions,
  feed: EventFeed,
  parts: { runs: RunStore; activeRuns: ActiveRuns },
) {
  const { clock, lostAfterMs } = options;
  const onChange = (runIds: readonly string[]): void => feed.runsChanged(runIds);
  const lifecycle = new RunLifecycle({
    store: parts.runs,
    activeRuns: parts.activeRuns,
    clock,
    lostAfterMs,
    onChange,
  });
  await lifecycle.load();
  return lifecycle;
}

/** Throws when the folder of the logs can't be used. */
export async function openFleetFeatures(options: FleetFeaturesOptions): Promise<FleetFeatures> {
  const { database, commits, dataDir, authenticate, clock, log, heartbeatMs, takeRecord } = options;
  const runs = createRunStore(database, commits);
  const activeRuns = new ActiveRuns();
  const fleet = new Fleet({ store: createDeviceStore(database), clock, heartbeatMs });
  await fleet.load();
  const bus = new EventBus<FeedEvent>();
  const feed = new EventFeed({ bus, fleet, activeRuns, runs, log });
  const lifecycle = await openRuns(options, feed, { runs, activeRuns });
  const metrics = createMetrics({
    hosts: () => gateway.size,
    activeRuns: () => activeRuns.size,
    devices: () => fleet.countByState(),
  });
  const logs = new LogStore({ folder: path.join(dataDir, 'logs'), clock, log });
  const ingest = new LogIngest({
    store: logs,
    log,
    onStored: (batch) => {
      metrics.logEntries.inc(batch.count);
      feed.logsStored(batch);
    },
  });
  const events = createHostEvents({ fleet, lifecycle, owners: new RunOwners(runs), ingest, log, takeRecord });
  const gateway = new HostGateway({ authenticate, events, clock, log, heartbeatMs });

  let streams: ReturnType<typeof addEventRoutes> | undefined;
  const endSweep = periodically(log, options.sweepMs, async () => {
    logs.expire();
    fleet.sweep();
    gateway.dropExpired();
    streams?.endExpired(clock.now());
    await lifecycle.sweep();
  });

  return {
    ...{ fleet, runs, activeRuns, bus, feed, gateway, metrics },
    addRoutes(app) {
      addDeviceRoutes(app, { fleet, activeRuns });
      streams = addEventRoutes(app, bus);
      addLogRoutes(app, { fleet, store: logs, clock });
      addRunRoutes(app, runs);
    },
    dropToken(tokenId) {
      gateway.dropToken(tokenId);
      streams?.endOfToken(tokenId);
    },
    disconnect() {
      streams?.endAll();
      gateway.close();
    },
    async close() {
      await endSweep();
      ingest.flush();
      logs.close();
    },
  };
}
