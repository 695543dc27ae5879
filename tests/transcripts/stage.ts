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

/** A Monday, so that days, weeks and the times of schedules are always the same. */
const beginning = Date.parse('2030-03-04T10:00:00Z');

/** Each section that works with a phone has one of its own. */
const annsPhones = ['fleet', 'labels', 'shares', 'control', 'runs', 'direct', 'evidence', 'jobs'];
const hostIds = {
  ann: '0a000000-0000-4000-8000-000000000001',
  bob: '0b000000-0000-4000-8000-000000000002',
  replayer: '0c000000-0000-4000-8000-000000000003',
};

/** Often, so that nobody waits for what servers do by themselves. */
const sweepMs = 50;

/** The servers, and who plays: `admin`, `ann` and `bob` with a host each, `reader` (Ann, who may only read). */
export class Stage {
  readonly names: StableNames;
  /** Values of steps, for later ones. */
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

  /** Each request goes to the next server. */
  nextUrl(): string {
    const { urls } = this;
    this.#turn += 1;
    return urls[this.#turn % urls.length] ?? '';
  }

  /** Null: without a token. */
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

  /** The host of Ann's phones. */
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

  /** A host of Ann's without phones takes every screen for what the code has in quotes. */
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

/** Three servers with one PostgreSQL, NATS and S3. Each request goes to the next one. */
async function startThree(folder: string, own: Record<string, string>): Promise<TestServer[]> {
  const settings = { ...(await sharedSettings(folder)), ...own };
  const servers: TestServer[] = [];
  while (servers.length < 3) servers.push(await TestServer.start({ engine: 'SQLite', settings, sweepMs }));
  return servers;
}
