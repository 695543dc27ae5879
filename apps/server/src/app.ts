import { type Confinement, openConfinement } from '@phalanx/confinement';
import { closeCodes } from '@phalanx/protocol';
import { dataDir as dataDirSetting, explainFolder, prepareFolder } from '@phalanx/settings';
import type { Logger } from 'pino';

import { createAuthenticator } from './access/authenticator.ts';
import { ensureAdministrator, replaceHostToken } from './access/first-start.ts';
import { addAccessRoutes } from './access/routes.ts';
import { addSessionRoutes } from './access/session-routes.ts';
import { createSessionStore } from './access/session-store.ts';
import { Sessions } from './access/sessions.ts';
import { SignInLinks } from './access/sign-in-links.ts';
import { createAccessStore, type AccessStore } from './access/store.ts';
import { addUsageRoutes } from './access/usage-routes.ts';
import { addUserRoutes, type Belongings } from './access/user-routes.ts';
import { AuditLog } from './audit/audit-log.ts';
import { createAuditStore, type AuditStore } from './audit/store.ts';
import { openAuditFeatures } from './audit-features.ts';
import { systemClock, type Clock } from './clock.ts';
import { compileInTurns, type Compiler, createCompiler } from './compile/compiler.ts';
import { readAgentTypes } from './compile/declarations.ts';
import { requireTypeScript } from './compile/typescript-version.ts';
import type { ServerConfig } from './config.ts';
import { addConsoleRoutes } from './console/routes.ts';
import { GroupCommit } from './db/group-commit.ts';
import { exclusively } from './db/locks.ts';
import type { ServerLock } from './db/server-lock.ts';
import { describeFaults } from './faults/fault-monitor.ts';
import { openFleetFeatures } from './fleet-features.ts';
import type { Foundation } from './foundation.ts';
import { addHealthRoutes } from './health/routes.ts';
import { HostGateway } from './hosts/gateway.ts';
import { createHttpKernel } from './http/kernel.ts';
import { mostOpenFiles } from './http/open-files.ts';
import { watchMethods } from './http/methods.ts';
import { serveDescription } from './http/openapi.ts';
import { OwnAddress } from './http/own-address.ts';
import { WebSockets } from './http/web-sockets.ts';
import { Limits } from './limits/limits.ts';
import { createStoredBytes } from './limits/stored-bytes-store.ts';
import { openLaunchFeatures } from './launch-features.ts';
import { explainListenError, urlOf } from './listen-address.ts';
import { ServerNode } from './nodes/server-node.ts';
import { SharedClock } from './nodes/shared-clock.ts';
import { createNodeStore } from './nodes/store.ts';
import { toldDeeds } from './nodes/told-deeds.ts';
import { openProjectFeatures } from './project-features.ts';
import { ProjectPeople } from './projects/project-people.ts';
import { createProjectStore } from './projects/store.ts';
import { openRecordFeatures } from './record-features.ts';
import { addRunRoutes } from './runs/routes.ts';
import { openBucket } from './s3/open-bucket.ts';
import { openLog } from './open-log.ts';
import { openTogether } from './several-servers.ts';
import { openTables, watchFaults } from './storage.ts';

/** What a test may set otherwise; the defaults are the product's. */
export interface ServerOverrides {
  clock?: Clock;
  log?: Logger;
  heartbeatMs?: number;
  /** How long devices have to acknowledge a start or a stop. */
  ackTimeoutMs?: number;
  /** How often what has expired is looked for. */
  sweepMs?: number;
  /** Default: what this machine offers. */
  confinement?: Confinement;
  /** The folder of the built console; without it there is none. */
  console?: Promise<string>;
}

export interface ServerApp {
  /** Such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** The administrator's first token, when this start made it: show it once. */
  readonly firstToken: string | undefined;
  /** A token for a host on this machine, for the administrator's phones; it replaces the one of the last start. */
  createHostToken(name: string): Promise<string>;
  /** An address that signs a browser in as the administrator, once, within the hour. */
  createSignInLink(): Promise<string>;
  /** Rejects with a `SettingError` when this server may not go on, because another one has its database. */
  readonly ended: Promise<never>;
  close(): Promise<void>;
}

interface Access {
  readonly lock: ServerLock | undefined;
  readonly access: AccessStore;
  readonly auditStore: AuditStore;
  readonly firstToken: string | undefined;
  readonly sessions: Sessions;
  readonly ownAddress: OwnAddress;
  readonly links: SignInLinks;
}

const version = '0.1.0';

/** After the start, which needs the processor itself; hosts take about as long to come back. */
const prepareCompilerMs = 2000;

const defaults = { heartbeatMs: 5000, ackTimeoutMs: 10_000, sweepMs: 5000 };

async function lay(config: ServerConfig, overrides: ServerOverrides): Promise<Foundation & Access> {
  const { heartbeatMs } = { ...defaults, ...overrides };
  const sharedClock = config.natsUrls === undefined ? undefined : new SharedClock();
  const clock = overrides.clock ?? sharedClock ?? systemClock;
  const log = overrides.log ?? openLog(config);
  const { dataDir } = config;
  await prepareFolder(dataDir);
  const { database, lock, release } = await openTables(config);
  const faults = await watchFaults(database, config, log);
  const onTime = sharedClock?.adjust.bind(sharedClock);
  const node = await ServerNode.open({
    name: config.nodeName,
    isAlone: config.natsUrls === undefined,
    store: createNodeStore(database),
    ...{ clock, faults, onTime },
  });
  const together = await openTogether({ database, node, faults, log }, config);
  const access = createAccessStore(database);
  const maxConnections = Math.min(config.limits.maxConnections, Math.floor(0.75 * mostOpenFiles()));
  const limits = new Limits({ ...config.limits, maxConnections });
  const storedBytes = createStoredBytes(database);
  limits.show('capture_bytes', (userId) => storedBytes.count(userId, 'captures'));
  limits.show('project_bytes', (userId) => storedBytes.count(userId, 'projects'));
  const authenticator = createAuthenticator({
    ...{ store: access, clock, limits },
    onError: (error) => faults.report(error, 'the last uses of tokens could not be stored'),
  });
  const { authenticate } = authenticator;
  const ownAddress = new OwnAddress(config.listen.host, config.publicUrl);
  const sessionStore = createSessionStore(database);
  const sessions = new Sessions({ store: sessionStore, authenticator, ownAddress, clock });
  const findCaller = sessions.findCaller.bind(sessions);
  const commits = new GroupCommit(database);
  const auditStore = createAuditStore(database);
  const audit = await AuditLog.open({ store: auditStore, commits, clock, faults });
  const firstToken = await exclusively(database, 'first start', () =>
    ensureAdministrator({ store: access, clock, deeds: audit }, config.adminToken),
  );
  const { app, connections, addressOf } = createHttpKernel({
    ...{ log, authenticate, findCaller, limits, trustProxy: config.trustProxy, idleMs: config.limits.idleMs },
    noteFault: (error) => faults.note(error),
    deeds: together === undefined ? audit : toldDeeds(audit, together.changes),
    catchUp: () => together?.changes.catchUp(),
  });
  app.addHook('preClose', async () => faults.close());
  app.addHook('onClose', release);
  app.addHook('onClose', () => database.destroy());
  app.addHook('onClose', () => together?.close());
  app.addHook('onClose', () => node.close());
  app.addHook('onClose', () => audit.close());
  app.addHook('onClose', () => authenticator.close());
  const requirePlace = connections.requirePlace.bind(connections);
  const gates = { authenticate, addressOf, peerOf: app.peerOf, requirePlace, limits };
  const hosts = new HostGateway({ ...gates, clock, log, faults, heartbeatMs, deeds: audit });
  authenticator.onForget((tokenId) => hosts.dropToken(tokenId));
  authenticator.onRecheck(() => hosts.tokenIds());
  together?.changes.on('access', () => authenticator.recheck());
  together?.changes.on('sessions', () => sessions.forgetAll());
  node.onGone(() => hosts.dropAll(closeCodes.tryAgainLater, 'the service stood still'));
  app.addHook('preClose', async () => hosts.close());
  const webSockets = new WebSockets(app);
  hosts.attach(app.server, webSockets);
  const confinement = overrides.confinement ?? (await openConfinement());
  const common = {
    ...{ app, hosts, authenticator, database, node, commits, audit, dataDir, clock, log, faults },
    ...{ confinement, connections, addressOf, limits, webSockets },
    ...{ bus: together?.bus, others: together?.others, changes: together?.changes },
  };
  const links = new SignInLinks(access, clock);
  return { ...common, access, lock, auditStore, firstToken, sessions, ownAddress, links };
}

async function openFeatures(
  foundation: Foundation & Access,
  config: ServerConfig,
  overrides: ServerOverrides,
): Promise<void> {
  const { app, access, authenticator, clock, limits, faults } = foundation;
  const { heartbeatMs, ackTimeoutMs, sweepMs } = { ...defaults, ...overrides };
  const { lostAfterMs, historyDays, searchPath, requireConfinement, recordsKept, runLogMb } = config;
  const bucket = await openBucket(config.s3, faults);
  app.addHook('onClose', async () => bucket?.close());
  const fileUrl = (): string => config.fileUrl ?? urlOf(app.server.address());

  const methods = watchMethods(app);
  openAuditFeatures(foundation, foundation.auditStore, config.auditDays);
  addAccessRoutes(app, { store: access, authenticator, clock, limits });
  addSessionRoutes(app, foundation);
  addUsageRoutes(app, { store: access, limits });
  const people = new ProjectPeople(createProjectStore(foundation.database));
  foundation.changes?.on('people', () => people.forgetAll());
  const fleetFeatures = await openFleetFeatures(foundation, {
    ...{ people, heartbeatMs, sweepMs, lostAfterMs, runLogMb },
  });
  addHealthRoutes(app, { metrics: fleetFeatures.metrics, obstacle: watchObstacles(foundation) });
  const records = await openRecordFeatures(foundation, { fileUrl, recordsKept, fleetFeatures, bucket });
  const { devices, runs, runAccess } = fleetFeatures;
  addRunRoutes(app, { store: runs, access: runAccess, recordsOf: records.recordsOfRun });
  const compiler = await openCompiler(foundation);
  const onDeleted = (projectId: string): Promise<void> => records.projectDeleted(projectId);
  const projects = await openProjectFeatures(foundation, {
    ...{ searchPath, requireConfinement, compiler, people, bucket, onDeleted },
  });
  const { getLaunchable } = projects;
  const belongings: Belongings = {
    listProjects: (userId) => projects.listOwned(userId),
    remove: async (userId) => {
      for (const id of await projects.listOwned(userId)) await projects.deleteProject(id);
      await devices.fleet.deleteOwned(userId);
      devices.shares.forgetUser(userId);
      await records.deleteOwner(userId);
    },
  };
  const onNamed = devices.shares.noteName.bind(devices.shares);
  addUserRoutes(app, { store: access, authenticator, clock, belongings, onNamed });
  const launching = { compiler, getLaunchable, people, fleetFeatures, ackTimeoutMs, historyDays };
  openLaunchFeatures(foundation, launching);
  if (overrides.console !== undefined) addConsoleRoutes(app, overrides.console, foundation.log);
  await serveDescription(app, version);
  methods.refuseOthers();
}

async function openCompiler({ app, log, limits, confinement }: Foundation): Promise<Compiler> {
  const isGreedy = (userId: string): boolean => limits.turns.compile.isGreedy(userId);
  const compiler = createCompiler({ log, confinement, isGreedy, agentTypes: await readAgentTypes() });
  let preparing: NodeJS.Timeout | undefined;
  app.addHook('onListen', async () => {
    preparing = setTimeout(() => compiler.prepare(), prepareCompilerMs).unref();
  });
  app.addHook('onClose', async () => {
    clearTimeout(preparing);
    await compiler.close();
  });
  return compileInTurns(compiler, limits.turns.compile);
}

/** What keeps the service from taking requests, as the end of "The service is …". */
function watchObstacles({ app, faults, hosts }: Foundation): () => Promise<string | undefined> {
  let isStopping = false;
  app.addHook('preClose', async () => {
    isStopping = true;
  });
  return async () => {
    if (isStopping || hosts.isClosed) return 'stopping';
    await faults.check();
    return describeFaults(faults.active);
  };
}

/** Starts the service. Throws a `SettingError` when its data folder, its address or a program can't be used. */
export async function startServer(config: ServerConfig, overrides: ServerOverrides = {}): Promise<ServerApp> {
  try {
    requireTypeScript();
    return await start(config, overrides);
  } catch (error) {
    throw explainFolder(error, { setting: dataDirSetting.name, folder: config.dataDir });
  }
}

/** Where others go on, this server answers callers until its hosts have gone to them. */
async function giveHostsAway({ others, node, hosts, faults }: Foundation): Promise<void> {
  if (others === undefined) return;
  try {
    if ((await node.listOthers()).length > 0) await hosts.moveAway();
  } catch (error) {
    faults.report(error, 'this server stops without knowing of others');
  }
}

async function start(config: ServerConfig, overrides: ServerOverrides): Promise<ServerApp> {
  const foundation = await lay(config, overrides);
  const { app, access, clock, audit, firstToken } = foundation;
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
  const createHostToken = (name: string): Promise<string> =>
    replaceHostToken({ store: access, clock, deeds: audit }, name);
  const url = urlOf(app.server.address());
  const ended = foundation.lock?.taken ?? new Promise<never>(() => undefined);
  const createSignInLink = async (): Promise<string> => {
    const base = config.publicUrl?.href.replace(/\/+$/, '') ?? url;
    return `${base}/sign-in#link=${await foundation.links.create()}`;
  };
  const closeInTurn = async (): Promise<void> => {
    await giveHostsAway(foundation);
    await close();
  };
  return { url, firstToken, createHostToken, createSignInLink, ended, close: closeInTurn };
}
