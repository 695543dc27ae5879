import { readFileSync } from 'node:fs';
import { type Confinement, openConfinement } from '@phalanx/confinement';
import { prepareFolder, programLog } from '@phalanx/settings';
import type { FastifyInstance } from 'fastify';
import { pino, type Logger } from 'pino';
import { type Access, openAccess } from './access/access.ts';
import type { Authenticator } from './access/authenticator.ts';
import { AuditLog } from './audit/audit-log.ts';
import { createAuditStore } from './audit/store.ts';
import { type Bucket, openBucket } from '../storage/blobs/s3/bucket.ts';
import type { Clock } from '../kernel/clock.ts';
import { DatabaseClock } from '../storage/db/database-clock.ts';
import type { ServerConfig } from '../config.ts';
import { type Db, openTables, watchFaults } from '../storage/db/database.ts';
import { GroupCommit } from '../storage/db/group-commit.ts';
import type { ServerLock } from '../storage/db/server-lock.ts';
import type { FaultMonitor } from '../kernel/faults/fault-monitor.ts';
import { createHttpKernel, type HttpKernel } from './requests/kernel.ts';
import { WebSockets } from './requests/sockets/web-sockets.ts';
import { Limits } from '../kernel/limits/limits.ts';
import { createStoredBytes } from '../storage/db/stored-bytes.ts';
import { type Cluster, openCluster } from '../storage/nodes/cluster.ts';
import { ServerNode } from '../storage/nodes/server-node.ts';
import { createNodeStore } from '../storage/nodes/store.ts';
import { Workers } from '../storage/workers.ts';

const defaultTiming = {
  heartbeatMs: 2000,
  /** Time that devices have to acknowledge a start or a stop. */
  ackTimeoutMs: 10_000,
  /** Interval at which the service looks for expired items and missed messages. */
  sweepMs: 5000,
  /**
   * Time after the start at which the compiler gets ready for its first request; undefined: with that request. The
   * start needs the processor itself; hosts take about as long to come back.
   */
  prepareCompilerMs: 2000 as number | undefined,
};

type Timing = Readonly<typeof defaultTiming>;

/** Options that a test may set otherwise; the defaults are the product's. */
export interface ContextOverrides extends Partial<Timing> {
  clock?: Clock;
  log?: Logger;
  /** Default: the confinement that this machine offers. */
  confinement?: Confinement;
}

/**
 * Context that every feature gets. A feature adds its routes to `app` and ends with it, by its hooks: `preClose` runs
 * before the connections of callers end, `onClose` after it, the last one first.
 */
export interface Context {
  readonly app: FastifyInstance;
  readonly config: ServerConfig;
  readonly timing: Timing;
  readonly webSockets: WebSockets;
  readonly connections: HttpKernel['connections'];
  readonly addressOf: HttpKernel['addressOf'];
  readonly limits: Limits;
  readonly access: Access;
  readonly authenticator: Authenticator;
  readonly database: Db;
  /** Lock of a database that other servers can reach. */
  readonly lock: ServerLock | undefined;
  readonly cluster: Cluster;
  /** Workers of durable work. */
  readonly workers: Workers;
  readonly node: ServerNode;
  readonly commits: GroupCommit;
  readonly audit: AuditLog;
  readonly dataDir: string;
  /** Bucket of large bodies; undefined: they are in the data folder. */
  readonly bucket: Bucket | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly faults: FaultMonitor;
  /** Confinement of the processes that read data of users. */
  readonly confinement: Confinement;
}

/** Opens the log. In a cluster each line names its server. */
function openLog(config: ServerConfig): Logger {
  const { natsUrls, nodeName, logLevel: level } = config;
  if (natsUrls === undefined) return pino({ level }, programLog(config));
  return pino({ level, base: { pid: process.pid, node: nodeName } }, programLog(config));
}

type Storage = Awaited<ReturnType<typeof openStorage>>;

/** Opens the database, its fault monitor, and the cluster of its servers. */
async function openStorage(config: ServerConfig, overrides: ContextOverrides) {
  const databaseClock = new DatabaseClock();
  const clock = overrides.clock ?? databaseClock;
  const log = overrides.log ?? openLog(config);
  await prepareFolder(config.dataDir);
  const { database, lock, isExclusive, release } = await openTables(config);
  const faults = await watchFaults(database, config, log);
  const node = await ServerNode.open({
    name: config.nodeName,
    isAlone: isExclusive,
    store: createNodeStore(database),
    onTime: databaseClock.adjust.bind(databaseClock),
    clock,
    faults,
  });
  const cluster = await openCluster({ database, node, faults, log }, config);
  const commits = new GroupCommit(database);
  const audit = await AuditLog.open({ store: createAuditStore(database), commits, clock, faults });
  return { config, clock, log, database, lock, release, faults, node, cluster, commits, audit };
}

function createLimits({ config, database }: Storage): Limits {
  const maxConnections = Math.min(config.limits.maxConnections, Math.floor(0.75 * maxOpenFiles()));
  const limits = new Limits({ ...config.limits, maxConnections });
  const storedBytes = createStoredBytes(database);
  limits.registerUsage('capture_bytes', (userId) => storedBytes.count(userId, 'captures'));
  limits.registerUsage('project_bytes', (userId) => storedBytes.count(userId, 'projects'));
  limits.registerUsage('work_bytes', (userId) => storedBytes.count(userId, 'work'));
  return limits;
}

function openKernel(storage: Storage, access: Access, limits: Limits): HttpKernel {
  const { config, log, audit, cluster, faults } = storage;
  const { authenticator, sessions } = access;
  const { invalidations } = cluster;
  return createHttpKernel({
    log,
    limits,
    trustProxy: config.trustProxy,
    idleMs: config.limits.idleMs,
    authenticate: authenticator.authenticate,
    findCaller: sessions.findCaller.bind(sessions),
    noteFault: (error) => faults.note(error),
    auditEvents: audit,
    catchUp: () => invalidations.catchUp(),
  });
}

/** Closes the storage with the server, after every feature. */
function closeWith(app: FastifyInstance, storage: Storage, { authenticator }: Access): void {
  const { audit, cluster, database, faults, node, release } = storage;
  app.addHook('preClose', async () => faults.close());
  app.addHook('onClose', release);
  app.addHook('onClose', () => database.destroy());
  app.addHook('onClose', () => cluster.close());
  app.addHook('onClose', () => node.close());
  app.addHook('onClose', () => audit.close());
  app.addHook('onClose', () => authenticator.close());
}

export async function createContext(config: ServerConfig, overrides: ContextOverrides): Promise<Context> {
  const timing = { ...defaultTiming, ...overrides };
  const { release, ...storage } = await openStorage(config, overrides);
  const { faults } = storage;
  const limits = createLimits({ ...storage, release });
  const access = openAccess({ ...storage, limits });
  const { authenticator } = access;
  const { app, connections, addressOf } = openKernel({ ...storage, release }, access, limits);
  closeWith(app, { ...storage, release }, access);
  const workers = new Workers({ ...storage, app });
  const webSockets = new WebSockets(app, limits);
  const bucket = await openBucket(config.s3, faults);
  app.addHook('onClose', async () => bucket?.close());
  const confinement = overrides.confinement ?? (await openConfinement());
  return {
    ...storage,
    app,
    workers,
    timing,
    webSockets,
    connections,
    addressOf,
    limits,
    access,
    authenticator,
    dataDir: config.dataDir,
    bucket,
    confinement,
  };
}

/** Reads how many files and connections the process may have open; infinite where the system doesn't say. */
function maxOpenFiles(): number {
  try {
    const soft = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === undefined ? Infinity : Number(soft);
  } catch {
    return Infinity;
  }
}
