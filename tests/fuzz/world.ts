import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { type ApiCaller, createApiCaller } from '../../apps/server/src/testing/api-caller.ts';
import { TestHost } from '../../apps/server/src/testing/test-host.ts';
import { stringAt } from '../../apps/server/src/testing/string-at.ts';
import { Program } from '../support/program.ts';
import type { Known } from './api-requests.ts';

const adminToken = `admin-${randomUUID()}-${randomUUID()}`;
const everything = ['read', 'launch', 'edit', 'review', 'host', 'admin'];

/**
 * Creates a caller that retries once if the service closed a persistent connection just then, which a busy machine
 * notices late.
 */
function callerOf(url: string, token: string): ApiCaller {
  const call = createApiCaller(url, token);
  return (...request) => call(...request).catch(() => call(...request));
}

/** User with the objects that belong to them. */
export interface Person {
  id: string;
  token: string;
  api: ApiCaller;
  host: TestHost;
  deviceId: string;
  projectId: string;
}

/** Service in a separate process with users: a victim, who only reads, and others for the fuzzer. */
export class World {
  readonly folder: string;
  readonly server: Program;
  readonly url: string;
  readonly #admin: ApiCaller;
  #readers: string[] = [];
  victim!: Person;
  attacker!: Person;
  #launchId = randomUUID();

  private constructor(folder: string, server: Program, url: string) {
    this.folder = folder;
    this.server = server;
    this.url = url;
    this.#admin = callerOf(url, adminToken);
  }

  static async create(): Promise<World> {
    const folder = await mkdtemp(path.join(tmpdir(), 'phalanx-fuzz-'));
    const server = new Program(['server'], {
      PHALANX_LISTEN: '127.0.0.1:0',
      PHALANX_DATA_DIR: path.join(folder, 'server'),
      PHALANX_ADMIN_TOKEN: adminToken,
      PHALANX_LOG_LEVEL: 'warn',
      // Raised limits, because the default ones would stop most requests before the code under test.
      PHALANX_REQUESTS_PER_SECOND: '1000000',
      PHALANX_BAD_TOKENS_PER_MINUTE: '1000000000',
      PHALANX_MAX_TOKENS: '1000000',
    });
    const [, url = ''] = await server.printed(/is at (http:\/\/\S+?)\.?\s/);
    const world = new World(folder, server, url);
    await world.#settle().catch(async (error: unknown) => {
      await world.close();
      throw error;
    });
    return world;
  }

  async close(): Promise<void> {
    await this.server.end();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Fetches the OpenAPI document of the service. */
  async document(): Promise<unknown> {
    return (await fetch(`${this.url}/api/openapi.json`)).json();
  }

  /** Restores the attacker's objects. Returns the existing objects that requests may name. */
  async renew(attempts = 5): Promise<{ known: Known; tokens: (string | null)[] }> {
    try {
      return await this.#renew();
    } catch (error) {
      // A long run yields to other work on the machine, while time limits follow the clock.
      if (attempts <= 1 || this.server.hasExited) throw error;
      return this.renew(attempts - 1);
    }
  }

  async #renew(): Promise<{ known: Known; tokens: (string | null)[] }> {
    const { attacker } = this;
    attacker.token = await this.#createToken(attacker.id, { scopes: everything });
    attacker.api = callerOf(this.url, attacker.token);
    for (const id of await projectsOf(attacker))
      await attacker.api('DELETE', `/api/v2/automation-project/${id}`);
    attacker.projectId = await createProject(attacker.api);
    this.#launchId = randomUUID();
    if (!attacker.host.isOpen) await this.#reconnect();
    attacker.deviceId = await deviceOf(attacker.api, attacker.host).catch(() => this.#reconnect());
    // An earlier request may have taken the lease, which would end by itself.
    await this.endLease(attacker);
    await start(attacker.api, attacker.deviceId, this.#launchId);
    return { known: await this.#known(), tokens: await this.#callers() };
  }

  /** Reads everything that the person can read and no other user may change. */
  async viewOf({ api, host, deviceId, projectId }: Person): Promise<Record<string, unknown>> {
    // On a busy machine, hosts may be silent for too long.
    if (host.isOpen) await host.heartbeat();
    const paths = [
      '/api/v2/me',
      '/api/v2/tokens',
      '/api/v2/automation-project',
      `/api/v2/automation-project/${projectId}`,
      `/api/v2/automation-project/${projectId}/members`,
      `/api/v2/automation/files/${projectId}`,
      `/api/v2/automation/file/${projectId}?path=main.ts`,
      `/api/v2/automation/commits/${projectId}`,
      `/api/v2/devices/${deviceId}`,
      '/api/v2/hosts',
      `/api/v2/runs?device_id=${deviceId}`,
    ];
    const replies = await Promise.all(paths.map((one) => api('GET', one)));
    return Object.fromEntries(replies.map(({ text }, index) => [paths[index], ownIn(text)]));
  }

  async endLease({ api, deviceId }: Person): Promise<void> {
    await api('DELETE', `/api/v2/devices/${deviceId}/lease`);
  }

  async #settle(): Promise<void> {
    this.victim = await this.#createPerson('victim');
    this.attacker = await this.#createPerson('attacker');
    await this.#createReaders();
    await start(this.victim.api, this.victim.deviceId, randomUUID());
  }

  /** Reconnects the attacker's host: the fuzzer may have removed its phone and revoked its token. */
  async #reconnect(): Promise<string> {
    const { attacker } = this;
    await attacker.host.cut();
    attacker.host = await this.#connectHost('attacker', attacker.token);
    return deviceOf(attacker.api, attacker.host);
  }

  async #connectHost(name: string, token: string): Promise<TestHost> {
    const serials = [`phone of ${name}`];
    return TestHost.connected({
      url: this.url,
      token,
      serials,
      launchHabit: 'ends_at_once',
      requestHabit: 'answer',
    });
  }

  async #createPerson(name: string): Promise<Person> {
    const { body } = await this.#admin('POST', '/api/v2/users', { body: { name } });
    const id = stringAt(body['user'], 'id');
    const token = await this.#createToken(id, { scopes: everything });
    const api = callerOf(this.url, token);
    const host = await this.#connectHost(name, token);
    const deviceId = await deviceOf(api, host);
    return { id, token, api, host, deviceId, projectId: await createProject(api) };
  }

  /** Creates a user with whom the victim shares project and phone, and an administrator with read-only access. */
  async #createReaders(): Promise<void> {
    const { body } = await this.#admin('POST', '/api/v2/users', { body: { name: 'reader' } });
    const reader = stringAt(body['user'], 'id');
    const { api, deviceId, projectId } = this.victim;
    const shares: [string, string][] = [
      [`/api/v2/automation-project/${projectId}/members/${reader}`, 'shared_viewer'],
      [`/api/v2/devices/${deviceId}/members/${reader}`, 'view'],
    ];
    for (const [where, role] of shares) {
      const { status, text } = await api('PUT', where, { body: { role } });
      if (status !== 200) throw new Error(text);
    }
    const { body: me } = await this.#admin('GET', '/api/v2/me');
    this.#readers = [
      await this.#createToken(reader, { scopes: everything }),
      await this.#createToken(stringAt(me['user'], 'id'), { scopes: ['read'] }),
    ];
  }

  async #createToken(userId: string, fields: Record<string, unknown>): Promise<string> {
    const { body, text } = await this.#admin('POST', '/api/v2/tokens', {
      body: { name: 'fuzz', user_id: userId, ...fields },
    });
    if (typeof body['secret'] !== 'string') throw new Error(text);
    return body['secret'];
  }

  async #callers(): Promise<(string | null)[]> {
    const { id, projectId, token } = this.attacker;
    const limited = await this.#createToken(id, {
      scopes: everything.filter((one) => one !== 'host'),
      project_ids: [projectId],
    });
    const looking = await this.#createToken(id, { scopes: ['read'] });
    // Prefers the attacker: requests refused for missing permission find less.
    return [token, token, token, token, limited, looking, ...this.#readers, null, `phx_${'x'.repeat(40)}`];
  }

  async #known(): Promise<Known> {
    const { victim, attacker } = this;
    const tokens = await Promise.all([victim, attacker].map(({ api }) => api('GET', '/api/v2/tokens')));
    const runs = await Promise.all([victim, attacker].map(({ api }) => api('GET', '/api/v2/runs')));
    return {
      project: [attacker.projectId, victim.projectId],
      device: [attacker.deviceId, victim.deviceId],
      host: [attacker.host.hostId, victim.host.hostId],
      user: [victim.id, attacker.id],
      token: tokens.flatMap(({ body }) => idsIn(body['tokens'], 'id').slice(0, 1)),
      run: runs.flatMap(({ body }) => idsIn(body['runs'], 'run_id').slice(0, 2)),
      launch: [this.#launchId],
      path: ['main.ts', 'lib/part.ts', 'data.json', 'parameters.json', 'new.txt'],
    };
  }
}

const idsIn = (list: unknown, key: string): string[] =>
  Array.isArray(list) ? list.map((one) => stringAt(one, key)) : [];

async function projectsOf({ api, id }: Person): Promise<string[]> {
  const { body } = await api('GET', '/api/v2/automation-project?limit=100');
  const list: unknown[] = Array.isArray(body['projects']) ? body['projects'] : [];
  return list.filter((one) => stringAt(one, 'owner_id') === id).map((one) => stringAt(one, 'id'));
}

async function deviceOf(api: ApiCaller, { devices, hostId }: TestHost): Promise<string> {
  const { body } = await api('GET', '/api/v2/devices?limit=100');
  const list: unknown[] = Array.isArray(body['devices']) ? body['devices'] : [];
  const own = list.find(
    (one) => JSON.stringify(one).includes(hostId) && stringAt(one, 'serial') === devices[0]?.serial,
  );
  return stringAt(own, 'device_id');
}

/** Removes volatile fields and objects shared by others from a reply. */
function ownIn(text: string): unknown {
  const isOwn = (one: unknown): boolean =>
    typeof one !== 'object' ||
    one === null ||
    !('role' in one) ||
    one.role === 'owner' ||
    !('owner' in one || 'owner_id' in one);
  return JSON.parse(text, (key, value: unknown) => {
    if (key === 'last_used_at' || key === 'confirmed_at') return null;
    return Array.isArray(value) ? value.filter(isOwn) : value;
  });
}

async function start(api: ApiCaller, deviceId: string, launchId: string): Promise<void> {
  const { status, text } = await api('POST', '/api/v2/devices/launchDirectAutomation', {
    body: { device_id: deviceId, launch_id: launchId, command: 'start', code: 'console.log(1)' },
  });
  if (status !== 200) throw new Error(text);
}

/** Creates a project with two files and a commit. */
async function createProject(api: ApiCaller): Promise<string> {
  const { body, text } = await api('POST', '/api/v2/automation-project', {
    body: { name: `of ${randomUUID()}` },
  });
  if (body['project'] === undefined) throw new Error(text);
  const id = stringAt(body['project'], 'id');
  for (const [file, content] of [
    ['lib/part.ts', 'export const part = 1;\n'],
    ['main.ts', "import { part } from './lib/part.ts';\nconsole.log(part);\n"],
  ]) {
    const written = await api('PUT', `/api/v2/automation/file/${id}`, { body: { path: file, content } });
    if (written.status !== 200) throw new Error(written.text);
  }
  const made = await api('POST', `/api/v2/automation/commit/${id}`, { body: { message: 'first' } });
  if (made.status !== 201) throw new Error(made.text);
  return id;
}
