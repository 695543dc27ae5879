import { mkdtempSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openConfinement } from '@phalanx/confinement';
import { launchRoutes, LogEntry, logRoutes, RunDetail } from '@phalanx/protocol';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { expect } from 'vitest';
import { startServer, type ServerApp, type ServerOverrides } from '../app.ts';
import { type Compiler, createCompiler } from '../code/compile/compiler.ts';
import { readAgentTypes } from '../code/compile/declarations.ts';
import { parseServerConfig } from '../config.ts';
import { createApiCaller, type ApiCaller, type ApiReply, type ApiRequest } from './api-caller.ts';
import { TestClock } from './test-clock.ts';
import { sharedSettings } from './shared-settings.ts';
import {
  databaseSettings,
  defaultEngine,
  dropDatabase,
  type Engine,
  isOnServers,
} from './engines/test-database.ts';
import { withinEngineLimit } from './engines/engine-limit.ts';
import { TestHost, type TestHostOptions } from './test-host.ts';
import { stringAt } from './string-at.ts';

export const adminToken = 'administrator-token-of-the-tests-0123456789';

const launchPath = launchRoutes.launchDirect.path;
const runSchema = Compile(RunDetail);
const logSchema = Compile(Type.Array(LogEntry));

interface TestServerOptions extends Omit<ServerOverrides, 'clock'> {
  settings?: Record<string, string>;
  /** A fresh folder unless it is given. */
  dataDir?: string;
  /** Engine; that of this run of the tests unless it is given. */
  engine?: Engine;
}

/** No host is silent for too long, whatever the test does to the clock. The largest: a timer waits five times as long. */
const testHeartbeatMs = 400_000_000;

let sharedCompiler: Promise<Compiler> | undefined;

/**
 * Opens the compiler of all servers of a test file: each compile process takes half a second of processor time to
 * start.
 */
const openSharedCompiler = (): Promise<Compiler> =>
  (sharedCompiler ??= Promise.all([openConfinement(), readAgentTypes()]).then(([confinement, agentTypes]) =>
    createCompiler({ log: { warn: () => undefined }, confinement, agentTypes }),
  ));

/**
 * The service in this process, on a port of its own and in a fresh folder. With `TEST_DATABASE=servers` it is three
 * servers, and each request for its address gets that of the next one.
 */
export class TestServer {
  readonly dataDir: string;
  readonly engine: Engine;
  readonly clock = new TestClock();
  readonly #options: TestServerOptions;
  readonly #apps: ServerApp[] = [];
  #turn = 0;
  #shared: Record<string, string> | undefined;

  private constructor(dataDir: string, options: TestServerOptions) {
    this.dataDir = dataDir;
    this.engine = options.engine ?? defaultEngine;
    this.#options = options;
  }

  static async start(options: TestServerOptions = {}): Promise<TestServer> {
    const dataDir = options.dataDir ?? mkdtempSync(path.join(tmpdir(), 'phalanx-server-'));
    const server = new TestServer(dataDir, options);
    await server.open();
    return server;
  }

  get url(): string {
    return this.#next().url;
  }

  /** URLs of all servers. */
  get urls(): string[] {
    return this.#apps.map(({ url }) => url);
  }

  /** A folder for each server. */
  get dataDirs(): string[] {
    const isSeveral = isOnServers && this.engine === 'PostgreSQL';
    return isSeveral ? ['', '-2', '-3'].map((end) => `${this.dataDir}${end}`) : [this.dataDir];
  }

  /** An address that signs a browser in. */
  async createSignInLink(): Promise<string> {
    return this.#next().createSignInLink();
  }

  /** Calls the API as the administrator. */
  get api(): ApiCaller {
    return createApiCaller(this.url, adminToken);
  }

  /** Calls the API of each server as the administrator: to wait until all know what one was told. */
  get apis(): ApiCaller[] {
    return this.urls.map((url) => createApiCaller(url, adminToken));
  }

  async open(): Promise<void> {
    const folders = this.dataDirs;
    this.#shared ??= await (folders.length > 1
      ? sharedSettings(this.dataDir)
      : databaseSettings(this.dataDir, this.engine));
    const shared = this.#shared;
    for (const folder of folders) this.#apps.push(await this.#startInTime(folder, shared));
  }

  async close(): Promise<void> {
    for (const app of this.#apps.splice(0)) await app.close();
  }

  async restart(): Promise<void> {
    await this.close();
    await this.open();
  }

  async dispose(): Promise<void> {
    await this.close();
    await dropDatabase(this.dataDir, this.engine);
    for (const folder of this.dataDirs) await rm(folder, { recursive: true, force: true });
  }

  #next(): ServerApp {
    this.#turn += 1;
    const app = this.#apps[this.#turn % this.#apps.length];
    if (app === undefined) throw new Error('the test server is closed');
    return app;
  }

  #startInTime(dataDir: string, databases: Record<string, string>): Promise<ServerApp> {
    const url = databases['PHALANX_DATABASE_URL'];
    const work = () => this.#start(dataDir, databases);
    return url === undefined ? work() : withinEngineLimit({ what: 'The start of a test server', url, work });
  }

  async #start(dataDir: string, databases: Record<string, string>): Promise<ServerApp> {
    const { settings, dataDir: _given, engine: _engine, ...overrides } = this.#options;
    const config = parseServerConfig({
      PHALANX_LISTEN: '127.0.0.1:0',
      PHALANX_DATA_DIR: dataDir,
      PHALANX_ADMIN_TOKEN: adminToken,
      PHALANX_LOG_LEVEL: 'silent',
      // Tests have one phone, and seldom end what runs there.
      PHALANX_MAX_RUNS_PER_DEVICE: '1000',
      ...databases,
      ...settings,
    });
    // Most suites compile nothing.
    const own = { heartbeatMs: testHeartbeatMs, prepareCompilerMs: undefined };
    // With a confinement of its own, a test is about what is confined.
    const compiler = overrides.confinement === undefined ? { compiler: await openSharedCompiler() } : {};
    return startServer(config, { clock: this.clock, ...own, ...compiler, ...overrides });
  }

  /** Names of the files that hold log entries. */
  async logFiles(): Promise<string[]> {
    const names = await readdir(path.join(this.dataDir, 'logs'));
    return names.filter((name) => name.endsWith('.db'));
  }

  /** The figures of all servers: each tells its own. */
  async metrics(): Promise<string> {
    const replies = await Promise.all(this.apis.map((api) => api('GET', '/metrics')));
    return replies.map(({ text }) => text).join('\n');
  }

  async createUser(name: string): Promise<string> {
    const { body } = await this.api('POST', '/api/v2/users', { body: { name } });
    return stringAt(body['user'], 'id');
  }

  /** Returns the secret and the ID. */
  async createToken(fields: Record<string, unknown>): Promise<{ secret: string; id: string }> {
    const { body, text } = await this.api('POST', '/api/v2/tokens', { body: { name: 'test', ...fields } });
    if (typeof body['secret'] !== 'string') throw new Error(text);
    return { secret: body['secret'], id: stringAt(body['token'], 'id') };
  }

  /** A project that the caller owns; returns its ID. */
  async createProject(api: ApiCaller = this.api): Promise<string> {
    const name = `project ${crypto.randomUUID()}`;
    const { body } = await api('POST', '/api/v2/automation-project', { body: { name } });
    return stringAt(body['project'], 'id');
  }

  /** Returns the secret. The clock goes on by so long that the token can be created on a busy machine. */
  async createExpiredToken(fields: Record<string, unknown> = {}): Promise<string> {
    const validMs = 10_000;
    const { secret } = await this.createToken({ ...fields, expires_at: this.clock.now() + validMs });
    this.clock.advance(validMs);
    return secret;
  }

  /** A host of the administrator (or of another token's user), and the IDs of its phones in the order of their serials. */
  async connectHost(
    options: Partial<TestHostOptions> = {},
    api: ApiCaller = this.api,
  ): Promise<{ host: TestHost; deviceIds: string[]; deviceId: string }> {
    const host = await TestHost.connected({ url: this.url, token: adminToken, ...options });
    const { body } = await api('GET', '/api/v2/devices?limit=1000');
    const devices = Array.isArray(body['devices']) ? body['devices'] : [];
    const idOf = new Map(devices.map((one) => [stringAt(one, 'serial'), stringAt(one, 'device_id')]));
    const deviceIds = host.devices.map(({ serial }) => idOf.get(serial) ?? '');
    return { host, deviceIds, deviceId: deviceIds[0] ?? '' };
  }

  /** Resolves when the device has this state at each server. */
  async seenEverywhere(deviceId: string, state: string): Promise<void> {
    const read = (api: ApiCaller): Promise<ApiReply> => api('GET', `/api/v2/devices/${deviceId}`);
    for (const api of this.apis)
      await expect.poll(() => read(api)).toMatchObject({ body: { device: { state } } });
  }

  start(deviceId: string, launchId?: string, more?: Record<string, unknown>): Promise<ApiReply> {
    return this.api('POST', launchPath, startBody(deviceId, launchId, more));
  }

  /** Starts direct code on a phone of this host. Returns the launch's and the run's ID. */
  async startRun(
    host: TestHost,
    deviceId: string,
    launchId: string = crypto.randomUUID(),
  ): Promise<{ launchId: string; runId: string }> {
    const { status, text } = await this.start(deviceId, launchId);
    if (status !== 200) throw new Error(text);
    const launch = host.messages('launch').findLast((message) => message.automation_id === launchId);
    return { launchId, runId: launch?.runs[0]?.run_id ?? '' };
  }

  async stop(deviceId: string, launchId: string): Promise<ApiReply> {
    return this.start(deviceId, launchId, { command: 'stop' });
  }

  async run(runId: string): Promise<RunDetail> {
    const { body, text } = await this.api('GET', `/api/v2/runs/${runId}`);
    if (!runSchema.Check(body['run'])) throw new Error(text);
    return body['run'];
  }

  /** One page of the logs, after `from`. */
  async logs(deviceId: string, automationIds: readonly string[], from?: string): Promise<LogEntry[]> {
    const body = {
      device_id: deviceId,
      automation_ids: automationIds,
      ...(from === undefined ? {} : { from }),
    };
    const reply = await this.api('POST', logRoutes.read.path, { body });
    if (!logSchema.Check(reply.body['logs'])) throw new Error(reply.text);
    return reply.body['logs'];
  }

  /** Reads all pages of the logs, as a caller would. */
  async allLogs(deviceId: string, automationIds: readonly string[], from?: string): Promise<LogEntry[]> {
    const all: LogEntry[] = [];
    for (let cursor = from; ;) {
      const page = await this.logs(deviceId, automationIds, cursor);
      if (page.length === 0) return all;
      all.push(...page);
      cursor = page.at(-1)?.id;
    }
  }

  /** A user of their own with a token that may do everything a user can. */
  async createCaller(name: string): Promise<{ userId: string; token: string; api: ApiCaller }> {
    const userId = await this.createUser(name);
    const scopes = ['read', 'launch', 'edit', 'review', 'host', 'admin'];
    const { secret } = await this.createToken({ user_id: userId, scopes });
    return { userId, token: secret, api: (...args) => createApiCaller(this.url, secret)(...args) };
  }
}

export function numberAt(value: unknown, key: string): number {
  const found: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
  if (typeof found !== 'number') throw new Error(`no ${key} in ${JSON.stringify(value)}`);
  return found;
}

export const startBody = (
  deviceId: string,
  launchId: string = crypto.randomUUID(),
  more: Record<string, unknown> = {},
): ApiRequest & { body: Record<string, unknown> } => ({
  body: { device_id: deviceId, launch_id: launchId, command: 'start', code: 'console.log(1)', ...more },
});
