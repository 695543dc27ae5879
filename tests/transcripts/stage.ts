import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { verdictOf } from '../../apps/server/src/testing/records/replay-scene.ts';
import { stringAt } from '../../apps/server/src/testing/string-at.ts';
import { TestHost } from '../../apps/server/src/testing/test-host.ts';
import { adminToken, TestServer } from '../../apps/server/src/testing/test-server.ts';
import { sharedSettings } from '../../apps/server/src/testing/shared-settings.ts';
import { Receiver } from '../../apps/server/src/work/webhooks/testing/receiver.ts';
import { answerOf } from './phone-answers.ts';
import { StableNames } from './stable-names.ts';

export const engineNames = ['sqlite', 'cluster'] as const;
export type EngineName = (typeof engineNames)[number];

/** Start time, a Monday, so that days, weeks and schedules are always the same. */
const beginning = Date.parse('2030-03-04T10:00:00Z');

/** Phones of Ann; each section that works with a phone has its own. */
const annsPhones = ['fleet', 'labels', 'shares', 'control', 'runs', 'direct', 'evidence', 'jobs'];
const hostIds = {
  ann: '0a000000-0000-4000-8000-000000000001',
  bob: '0b000000-0000-4000-8000-000000000002',
  replayer: '0c000000-0000-4000-8000-000000000003',
};

/** Sweep interval in ms, short so that steps need not wait for background work of servers. */
const sweepMs = 50;

/** Servers and callers: `admin`, `ann` and `bob` with a host each, `reader` (Ann with a read-only token). */
export class Stage {
  readonly names: StableNames;
  /** Values of steps for later ones. */
  readonly kept = new Map<string, string>();
  readonly #hosts: TestHost[] = [];
  readonly #servers: readonly TestServer[];
  readonly #receiver: Receiver;
  readonly #folder: string;
  #turn = 0;

  private constructor(servers: readonly TestServer[], receiver: Receiver, folder: string) {
    this.#servers = servers;
    this.#receiver = receiver;
    this.#folder = folder;
    this.names = new StableNames(() => this.now());
  }

  static async open(engine: EngineName): Promise<Stage> {
    const folder = await mkdtemp(path.join(tmpdir(), 'phalanx-transcript-'));
    const keys = path.join(folder, 'secrets.key');
    await writeFile(keys, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 });
    const settings = {
      PHALANX_SECRETS_KEY_FILE: keys,
      PHALANX_WEBHOOK_NETWORKS: '127.0.0.2',
      PHALANX_REQUESTS_PER_SECOND: '10000',
      PHALANX_PUBLIC_URL: 'http://127.0.0.1:1',
    };
    const servers =
      engine === 'sqlite'
        ? [await TestServer.start({ engine: 'SQLite', settings, sweepMs })]
        : await startThree(folder, settings);
    const offset = beginning - Date.now();
    for (const { clock } of servers) clock.advance(offset);
    const stage = new Stage(servers, await Receiver.start(), folder);
    await stage.#callIn().catch(async (error: unknown) => {
      await stage.close();
      throw error;
    });
    return stage;
  }

  async close(): Promise<void> {
    for (const host of this.#hosts) await host.cut();
    await this.#receiver.close();
    for (const server of this.#servers) await server.dispose();
    await rm(this.#folder, { recursive: true, force: true });
  }

  now(): number {
    return this.#servers[0]?.clock.now() ?? 0;
  }

  get urls(): string[] {
    return this.#servers.flatMap(({ urls }) => urls);
  }

  /** Returns the server for the next request, in turn. */
  nextUrl(): string {
    const { urls } = this;
    this.#turn += 1;
    return urls[this.#turn % urls.length] ?? '';
  }

  /** Returns the caller's token; null without one. */
  tokenOf(caller: string): string | null {
    return caller === 'nobody' ? null : this.valueOf(`${caller}sToken`, caller);
  }

  valueOf(...names: readonly string[]): string {
    for (const name of names) {
      const value = this.kept.get(name);
      if (value !== undefined) return value;
    }
    throw new Error(`nothing is kept as ${names.join(' or ')}`);
  }

  keep(name: string, value: string): void {
    this.kept.set(name, value);
    this.names.give(value, name);
  }

  /** Returns the host of Ann's phones. */
  get host(): TestHost {
    const host = this.#hosts.find(({ hostId }) => hostId === hostIds.ann);
    if (host === undefined) throw new Error('Ann has no host');
    return host;
  }

  async #callIn(): Promise<void> {
    const [server] = this.#servers;
    if (server === undefined) throw new Error('there is no server');
    this.kept.set('adminsToken', adminToken);
    this.keep('unknown', '00000000-0000-7000-8000-000000000000');
    this.kept.set('receiver', this.#receiver.url);
    const { body } = await server.api('GET', '/api/v2/me');
    this.keep('admin', stringAt(body['user'], 'id'));
    for (const name of ['ann', 'bob']) {
      const { userId, token } = await server.createCaller(name);
      this.keep(name, userId);
      this.kept.set(`${name}sToken`, token);
    }
    const { secret } = await server.createToken({ user_id: this.valueOf('ann'), scopes: ['read'] });
    this.kept.set('readersToken', secret);
    await this.#connect('ann', annsPhones);
    await this.#connect('bob', ['bobs']);
    await this.#connectReplayer();
  }

  async #connect(owner: 'ann' | 'bob', serials: readonly string[]): Promise<void> {
    const token = this.valueOf(`${owner}sToken`);
    const url = this.nextUrl();
    const hostId = hostIds[owner];
    const host = await TestHost.connected({ url, token, serials, hostId, requestHabit: 'answer' });
    host.answerWith = answerOf;
    this.#hosts.push(host);
    this.keep(`${owner}sHost`, hostId);
  }

  /** Connects a host of Ann's without phones, which recognizes every screen as the quoted name in the code. */
  async #connectReplayer(): Promise<void> {
    const token = this.valueOf('annsToken');
    const host = new TestHost({ url: this.nextUrl(), token, serials: [], hostId: hostIds.replayer });
    this.#hosts.push(host);
    host.answerWith = (question) => {
      if (question.type !== 'replay') return undefined;
      const verdicts = question.screens.map(() => verdictOf(question.code));
      const header = JSON.stringify({ type: 'replay', request_id: question.request_id });
      return Buffer.from(`${header}\n${JSON.stringify({ verdicts })}`);
    };
    await host.open();
    host.sendHello({ replays: true });
    await host.heartbeat();
    this.keep('replayer', hostIds.replayer);
  }
}

/** Starts three servers with one PostgreSQL, NATS and S3. Requests go to them in turn. */
async function startThree(folder: string, own: Record<string, string>): Promise<TestServer[]> {
  const settings = { ...(await sharedSettings(folder)), ...own };
  const servers: TestServer[] = [];
  while (servers.length < 3) servers.push(await TestServer.start({ engine: 'SQLite', settings, sweepMs }));
  return servers;
}
