import { mkdirSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { stop as stopCompiler } from 'esbuild';
import { pino, type Logger } from 'pino';

import { createAuthenticator } from './access/authenticator.ts';
import { ensureAdministrator, replaceHostToken } from './access/first-start.ts';
import { addAccessRoutes } from './access/routes.ts';
import { createAccessStore } from './access/store.ts';
import { EventBus } from './bus/event-bus.ts';
import { systemClock, type Clock } from './clock.ts';
import { SettingError, type ServerConfig } from './config.ts';
import { openDatabase } from './db/database.ts';
import { GroupCommit } from './db/group-commit.ts';
import { Fleet } from './devices/fleet.ts';
import { addDeviceRoutes } from './devices/routes.ts';
import { createDeviceStore } from './devices/store.ts';
import { EventFeed, type FeedEvent } from './events/event-feed.ts';
import { addEventRoutes } from './events/routes.ts';
import { createMetrics, measureRequests } from './health/metrics.ts';
import { addHealthRoutes } from './health/routes.ts';
import { HostGateway } from './hosts/gateway.ts';
import { createHostEvents } from './hosts/host-events.ts';
import { createHttpKernel } from './http/kernel.ts';
import { watchMethods } from './http/methods.ts';
import { describeRoutes, serveDescription } from './http/openapi.ts';
import { DirectLaunches } from './launches/direct-launches.ts';
import { ParameterChecker } from './launches/parameters/parameter-checker.ts';
import { ProjectBundles } from './launches/project-bundles.ts';
import { ProjectLaunches } from './launches/project-launches.ts';
import { openProjectFeatures } from './project-features.ts';
import { readAgentTypes } from './compile/agent-types.ts';
import { createCompiler } from './compile/compiler.ts';
import { deleteOldLaunches } from './launches/history.ts';
import { addLaunchRoutes } from './launches/routes.ts';
import { createLaunchStore } from './launches/store.ts';
import { LogIngest } from './logs/ingest.ts';
import { addLogRoutes } from './logs/routes.ts';
import { LogStore } from './logs/store.ts';
import { periodically } from './periodically.ts';
import { openRecordFeatures } from './record-features.ts';
import { ActiveRuns } from './runs/active-runs.ts';
import { addRunRoutes } from './runs/routes.ts';
import { RunLifecycle } from './runs/run-lifecycle.ts';
import { RunOwners } from './runs/run-owners.ts';
import { createRunStore } from './runs/store.ts';

/** What a test may set otherwise; the defaults are the product's. */
export interface ServerOverrides {
  clock?: Clock;
  log?: Logger;
  heartbeatMs?: number;
  /** How long devices have to acknowledge a start or a stop. */
  ackTimeoutMs?: number;
  /** How often what has expired is looked for. */
  sweepMs?: number;
}

export interface ServerApp {
  /** Such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** The administrator's first token, when this start made it: show it once. */
  readonly firstToken: string | undefined;
  /** A token for a host on this machine, for the administrator's phones; it replaces the one of the last start. */
  createHostToken(name: string): Promise<string>;
  close(): Promise<void>;
}

const version = '0.1.0';
const hourMs = 60 * 60 * 1000;

const defaults = { heartbeatMs: 5000, ackTimeoutMs: 10_000, sweepMs: 5000 };

/** Starts the service. Throws when the data folder is in use or the address is taken. */
export async function startServer(config: ServerConfig, overrides: ServerOverrides = {}): Promise<ServerApp> {
  const { heartbeatMs, ackTimeoutMs, sweepMs } = { ...defaults, ...overrides };
  const clock = overrides.clock ?? systemClock;
  const log = overrides.log ?? pino({ level: config.logLevel });
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  const database = await openDatabase(path.join(config.dataDir, 'phalanx.db'));

  const access = createAccessStore(database);
  const commits = new GroupCommit(database);
  const runs = createRunStore(database, commits);
  const launches = createLaunchStore(database, commits);
  const logs = new LogStore({ folder: path.join(config.dataDir, 'logs'), clock, log });
  const firstToken = await ensureAdministrator(access, clock, config.adminToken);

  const authenticator = createAuthenticator(access, clock);
  const { authenticate } = authenticator;
  const activeRuns = new ActiveRuns();
  const fleet = new Fleet({ store: createDeviceStore(database), clock, heartbeatMs });
  await fleet.load();
  const bus = new EventBus<FeedEvent>();
  const feed = new EventFeed({ bus, fleet, activeRuns, runs, log });
  const lifecycle = new RunLifecycle({
    store: runs,
    activeRuns,
    clock,
    lostAfterMs: config.lostAfterMs,
    onChange: (runIds) => feed.runsChanged(runIds),
  });
  await lifecycle.load();

  const metrics = createMetrics({
    hosts: () => gateway.size,
    activeRuns: () => activeRuns.size,
    devices: () => fleet.countByState(),
  });
  const ingest = new LogIngest({
    store: logs,
    log,
    onStored: (batch) => {
      metrics.logEntries.inc(batch.count);
      feed.logsStored(batch);
    },
  });
  const owners = new RunOwners(runs);
  const records = await openRecordFeatures({
    ...{ database, fleet, clock, log, dataDir: config.dataDir },
    fileUrl: () => config.fileUrl ?? urlOf(app.server.address()),
    recordsKept: config.recordsKept,
    findRun: (runId) => runs.find(runId),
    figures: metrics.records,
    isFollowed: () => bus.hasListeners,
    publish: (news) => feed.recordChanged(news),
  });
  const events = createHostEvents({
    ...{ fleet, lifecycle, owners, ingest, log },
    takeRecord: (link, report) => records.take(link, report),
  });
  const gateway = new HostGateway({ authenticate, events, clock, log, heartbeatMs });
  const linkOf = (deviceId: string) => fleet.find(deviceId)?.link ?? null;
  const onCreated = (runIds: readonly string[]) => feed.runsChanged(runIds);
  const dispatcher = { launches, runs, activeRuns, clock, ackTimeoutMs, linkOf, onCreated };
  const directLaunches = new DirectLaunches(dispatcher, fleet);
  const compiler = createCompiler({ log, agentTypes: await readAgentTypes() });
  const projects = await openProjectFeatures({
    ...{ database, clock, log, compiler, authenticate },
    dataDir: config.dataDir,
    searchPath: config.searchPath,
    onDeleted: (projectId) => records.projectDeleted(projectId),
  });
  const { getLaunchable } = projects;
  const parameters = new ParameterChecker();
  const bundles = new ProjectBundles(compiler);
  const projectLaunches = new ProjectLaunches({ dispatcher, fleet, getLaunchable, bundles, parameters });

  let isStopping = false;
  const obstacle = async (): Promise<string | undefined> => {
    if (isStopping) return 'stopping';
    const works = await access.listUsers().then(
      () => true,
      () => false,
    );
    return works ? undefined : 'not able to reach its database';
  };

  const app = createHttpKernel({ log, authenticate });
  await describeRoutes(app, version);
  const methods = watchMethods(app);
  measureRequests(app, metrics);
  addAccessRoutes(app, { store: access, authenticator, clock });
  addDeviceRoutes(app, { fleet, activeRuns });
  const streams = addEventRoutes(app, bus);
  addHealthRoutes(app, { metrics, obstacle });
  addLaunchRoutes(app, {
    directLaunches,
    projectLaunches,
    getLaunchable,
    stopper: { fleet, activeRuns, runs, stopTimeoutMs: ackTimeoutMs },
  });
  addLogRoutes(app, { fleet, store: logs, clock });
  addRunRoutes(app, runs);
  await projects.addRoutes(app);
  await records.addRoutes(app);
  await serveDescription(app);
  methods.refuseOthers();

  authenticator.onForget((tokenId) => {
    gateway.dropToken(tokenId);
    streams.endOfToken(tokenId);
  });
  const endSweep = periodically(log, sweepMs, async () => {
    logs.expire();
    fleet.sweep();
    gateway.dropExpired();
    streams.endExpired(clock.now());
    await lifecycle.sweep();
  });
  // At once too: a server that is restarted every day must not keep its history for ever.
  const pruned = deleteOldLaunches(launches, clock, config.historyDays).catch((error: unknown) =>
    log.error({ err: error }, 'old launches could not be deleted'),
  );
  const endHistory = periodically(log, hourMs, () => deleteOldLaunches(launches, clock, config.historyDays));

  gateway.attach(app.server);
  const close = async (): Promise<void> => {
    isStopping = true;
    streams.endAll();
    gateway.close();
    await app.close();
    await projects.close();
    await records.close();
    await Promise.all([endSweep(), endHistory(), pruned]);
    ingest.flush();
    logs.close();
    await authenticator.close();
    await database.destroy();
    await Promise.all([compiler.close(), parameters.close(), stopCompiler()]);
  };
  try {
    await app.listen({ ...config.listen });
  } catch (error) {
    await close();
    throw asListenProblem(error, config.listen);
  }

  return {
    url: urlOf(app.server.address()),
    firstToken,
    createHostToken: (name) => replaceHostToken(access, clock, name),
    close,
  };
}

function asListenProblem(error: unknown, { host, port }: ServerConfig['listen']): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const problems: Record<string, string> = {
    EADDRINUSE: 'is taken by another program: stop it, or choose another address',
    EADDRNOTAVAIL: 'is not an address of this machine',
    ENOTFOUND: 'is not the name of a machine',
    EACCES: 'may not be used by this user: choose a port above 1023',
  };
  const problem = typeof code === 'string' ? problems[code] : undefined;
  if (problem === undefined) return error;
  return new SettingError(`PHALANX_LISTEN ${host}:${port} ${problem}`, { cause: error });
}

function urlOf(address: AddressInfo | string | null): string {
  if (address === null || typeof address === 'string') throw new Error('the server does not listen on TCP');
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}
