import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { FastifyInstance } from 'fastify';
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
import type { Foundation } from './foundation.ts';
import { addHealthRoutes } from './health/routes.ts';
import { HostGateway } from './hosts/gateway.ts';
import { createHttpKernel } from './http/kernel.ts';
import { watchMethods } from './http/methods.ts';
import { describeRoutes, serveDescription } from './http/openapi.ts';
import { openLaunchFeatures } from './launch-features.ts';
import { explainListenError, urlOf } from './listen-address.ts';
import { openProjectFeatures } from './project-features.ts';
import { openRecordFeatures } from './record-features.ts';
import { addRunRoutes } from './runs/routes.ts';

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

interface Access {
  readonly access: AccessStore;
  readonly firstToken: string | undefined;
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

async function lay(config: ServerConfig, overrides: ServerOverrides): Promise<Foundation & Access> {
  const { heartbeatMs } = { ...defaults, ...overrides };
  const clock = overrides.clock ?? systemClock;
  const log = overrides.log ?? pino({ level: config.logLevel });
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  const database = await openDatabase(path.join(config.dataDir, 'phalanx.db'));
  const access = createAccessStore(database);
  const firstToken = await ensureAdministrator(access, clock, config.adminToken);
  const authenticator = createAuthenticator(access, clock);
  const { authenticate } = authenticator;
  const app = createHttpKernel({ log, authenticate });
  app.addHook('onClose', () => database.destroy());
  app.addHook('onClose', () => authenticator.close());
  const hosts = new HostGateway({ authenticate, clock, log, heartbeatMs });
  authenticator.onForget((tokenId) => hosts.dropToken(tokenId));
  app.addHook('preClose', async () => hosts.close());
  hosts.attach(app.server);
  const commits = new GroupCommit(database);
  const { dataDir } = config;
  return { ...{ app, hosts, authenticator, database, commits, dataDir, clock, log }, access, firstToken };
}

async function openFeatures(
  foundation: Foundation & Access,
  config: ServerConfig,
  overrides: ServerOverrides,
): Promise<void> {
  const { app, log, access, authenticator, clock } = foundation;
  const { heartbeatMs, ackTimeoutMs, sweepMs } = { ...defaults, ...overrides };
  const { lostAfterMs, historyDays, searchPath, recordsKept } = config;
  const fileUrl = (): string => config.fileUrl ?? urlOf(app.server.address());

  await describeRoutes(app, version);
  const methods = watchMethods(app);
  addAccessRoutes(app, { store: access, authenticator, clock });
  const fleetFeatures = await openFleetFeatures(foundation, { heartbeatMs, sweepMs, lostAfterMs });
  addHealthRoutes(app, { metrics: fleetFeatures.metrics, obstacle: watchObstacles(app, access) });
  const records = await openRecordFeatures(foundation, { fileUrl, recordsKept, fleetFeatures });
  addRunRoutes(app, { store: fleetFeatures.runs, recordsOf: records.recordsOfRun });
  const compiler = createCompiler({ log, agentTypes: await readAgentTypes() });
  app.addHook('onClose', () => compiler.close());
  const onDeleted = (projectId: string): Promise<void> => records.projectDeleted(projectId);
  const getLaunchable = await openProjectFeatures(foundation, { searchPath, compiler, onDeleted });
  openLaunchFeatures(foundation, { compiler, getLaunchable, fleetFeatures, ackTimeoutMs, historyDays });
  await serveDescription(app);
  methods.refuseOthers();
}

/** What keeps the service from taking requests, as the end of "The service is …". */
function watchObstacles(app: FastifyInstance, access: AccessStore): () => Promise<string | undefined> {
  let isStopping = false;
  app.addHook('preClose', async () => {
    isStopping = true;
  });
  return async () => {
    if (isStopping) return 'stopping';
    return (await databaseWorks(access)) ? undefined : 'not able to reach its database';
  };
}

/** Starts the service. Throws when the data folder is in use or the address is taken. */
export async function startServer(config: ServerConfig, overrides: ServerOverrides = {}): Promise<ServerApp> {
  const foundation = await lay(config, overrides);
  const { app, access, clock, firstToken } = foundation;
  const close = async (): Promise<void> => {
    await app.close();
  };
  try {
    await openFeatures(foundation, config, overrides);
    await app.listen({ ...config.listen });
  } catch (error) {
    await close();
    throw explainListenError(error, config.listen);
  }
  const createHostToken = (name: string): Promise<string> => replaceHostToken(access, clock, name);
  return { url: urlOf(app.server.address()), firstToken, createHostToken, close };
}
