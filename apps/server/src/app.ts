import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { pino, type Logger } from 'pino';

import { createAuthenticator } from './access/authenticator.ts';
import { ensureAdministrator, replaceHostToken } from './access/first-start.ts';
import { addAccessRoutes } from './access/routes.ts';
import { createAccessStore, type AccessStore } from './access/store.ts';
import { systemClock, type Clock } from './clock.ts';
import { readAgentTypes } from './compile/declarations.ts';
import { createCompiler } from './compile/compiler.ts';
import type { ServerConfig } from './config.ts';
import { openDatabase } from './db/database.ts';
import { GroupCommit } from './db/group-commit.ts';
import { openFleetFeatures } from './fleet-features.ts';
import { measureRequests } from './health/metrics.ts';
import { addHealthRoutes } from './health/routes.ts';
import { createHttpKernel } from './http/kernel.ts';
import { watchMethods } from './http/methods.ts';
import { describeRoutes, serveDescription } from './http/openapi.ts';
import { openLaunchFeatures } from './launch-features.ts';
import { explainListenError, urlOf } from './listen-address.ts';
import { openProjectFeatures } from './project-features.ts';
import { openRecordFeatures } from './record-features.ts';

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

const defaults = { heartbeatMs: 5000, ackTimeoutMs: 10_000, sweepMs: 5000 };

async function databaseWorks(access: AccessStore): Promise<boolean> {
  try {
    await access.findAdministrator();
    return true;
  } catch {
    return false;
  }
}

/** Starts the service. Throws when the data folder is in use or the address is taken. */
export async function startServer(config: ServerConfig, overrides: ServerOverrides = {}): Promise<ServerApp> {
  const { heartbeatMs, ackTimeoutMs, sweepMs } = { ...defaults, ...overrides };
  const clock = overrides.clock ?? systemClock;
  const log = overrides.log ?? pino({ level: config.logLevel });
  const { dataDir, lostAfterMs, historyDays, searchPath, recordsKept } = config;
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const database = await openDatabase(path.join(dataDir, 'phalanx.db'));
  const commits = new GroupCommit(database);
  const access = createAccessStore(database);
  const firstToken = await ensureAdministrator(access, clock, config.adminToken);
  const authenticator = createAuthenticator(access, clock);
  const { authenticate } = authenticator;
  const common = { database, commits, dataDir, authenticate, clock, log };

  const fleetFeatures = await openFleetFeatures({
    ...{ ...common, heartbeatMs, sweepMs, lostAfterMs },
    takeRecord: (link, report) => records.take(link, report),
  });
  const { fleet, runs, bus, feed, gateway, metrics } = fleetFeatures;
  const records = await openRecordFeatures({
    ...{ ...common, fleet, recordsKept },
    fileUrl: () => config.fileUrl ?? urlOf(app.server.address()),
    findRun: (runId) => runs.find(runId),
    figures: metrics.records,
    isFollowed: () => bus.hasListeners,
    publish: (news) => feed.recordChanged(news),
  });
  const compiler = createCompiler({ log, agentTypes: await readAgentTypes() });
  const projects = await openProjectFeatures({
    ...{ ...common, compiler, searchPath },
    onDeleted: (projectId) => records.projectDeleted(projectId),
  });
  const { getLaunchable } = projects;
  const launches = openLaunchFeatures({
    ...{ ...common, compiler, getLaunchable, fleetFeatures, ackTimeoutMs, historyDays },
  });
  authenticator.onForget((tokenId) => fleetFeatures.dropToken(tokenId));

  let isStopping = false;
  const obstacle = async (): Promise<string | undefined> => {
    if (isStopping) return 'stopping';
    return (await databaseWorks(access)) ? undefined : 'not able to reach its database';
  };
  const app = createHttpKernel({ log, authenticate });
  await describeRoutes(app, version);
  const methods = watchMethods(app);
  measureRequests(app, metrics);
  addAccessRoutes(app, { store: access, authenticator, clock });
  addHealthRoutes(app, { metrics, obstacle });
  fleetFeatures.addRoutes(app);
  launches.addRoutes(app);
  await projects.addRoutes(app);
  await records.addRoutes(app);
  await serveDescription(app);
  methods.refuseOthers();
  gateway.attach(app.server);

  const close = async (): Promise<void> => {
    isStopping = true;
    fleetFeatures.disconnect();
    await app.close();
    for (const features of [projects, records, launches, fleetFeatures]) await features.close();
    await authenticator.close();
    await database.destroy();
    await compiler.close();
  };
  try {
    await app.listen({ ...config.listen });
  } catch (error) {
    await close();
    throw explainListenError(error, config.listen);
  }
  const createHostToken = (name: string): Promise<string> => replaceHostToken(access, clock, name);
  return { url: urlOf(app.server.address()), firstToken, createHostToken, close };
}
