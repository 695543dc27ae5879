import { TestProject } from '../../../code/projects/testing/test-projects.ts';
import { createApiCaller, type ApiCaller, type ApiReply } from '../../../testing/api-caller.ts';
import type { TestHost } from '../../../testing/test-host.ts';
import { stringAt } from '../../../testing/string-at.ts';
import { adminToken, startBody, TestServer } from '../../../testing/test-server.ts';

export const callers = [
  'owner',
  'launch',
  'view',
  'launch by the host',
  'stranger',
  'limited token',
] as const;
export type Caller = (typeof callers)[number];
type User = Exclude<Caller, 'limited token'>;

/** Phone that its owner shares with users of each role, who all edit one project. */
export class SharedPhone {
  readonly server: TestServer;
  readonly host: TestHost;
  readonly deviceId: string;
  readonly project: TestProject;
  /** Limited token of the owner. */
  readonly #limitedToken: string;
  readonly #users: Record<User, { userId: string; token: string }>;

  private constructor(parts: {
    server: TestServer;
    connected: { host: TestHost; deviceId: string };
    project: TestProject;
    limitedToken: string;
    users: Record<User, { userId: string; token: string }>;
  }) {
    this.server = parts.server;
    this.host = parts.connected.host;
    this.deviceId = parts.connected.deviceId;
    this.project = parts.project;
    this.#limitedToken = parts.limitedToken;
    this.#users = parts.users;
  }

  static async start(): Promise<SharedPhone> {
    const server = await TestServer.start({ ackTimeoutMs: 2000, sweepMs: 20 });
    const { body } = await server.api('GET', '/api/v2/me');
    const users = {
      owner: { userId: stringAt(body['user'], 'id'), token: adminToken },
      launch: await server.createCaller('launch'),
      view: await server.createCaller('view'),
      'launch by the host': await server.createCaller('launch by the host'),
      stranger: await server.createCaller('stranger'),
    };
    const connected = await server.connectHost();
    const project = await TestProject.create(server.api);
    await project.put('main.ts', 'console.log(1);');
    const { secret } = await server.createToken({ project_ids: [project.id] });
    const phone = new SharedPhone({ server, connected, project, limitedToken: secret, users });
    for (const user of ['launch', 'view', 'launch by the host', 'stranger'] as const)
      await phone.putEditor(user);
    return phone;
  }

  async dispose(): Promise<void> {
    await this.host.cut();
    await this.server.dispose();
  }

  /** Restores the role of every user, and stops all runs. */
  async reset(): Promise<void> {
    // Without a heartbeat, the host would count as disconnected in slow tests.
    await this.host.heartbeat();
    await this.share(`devices/${this.deviceId}`, 'launch', 'launch');
    await this.share(`devices/${this.deviceId}`, 'view', 'view');
    await this.share(`hosts/${this.host.hostId}`, 'launch by the host', 'launch');
    await this.endLease('owner');
    await this.stopAll('owner');
  }

  api(caller: Caller): ApiCaller {
    return createApiCaller(this.server.url, this.secretOf(caller));
  }

  secretOf(caller: Caller): string {
    return caller === 'limited token' ? this.#limitedToken : this.tokenOf(caller);
  }

  /** Returns the cookie of a browser in which the owner has signed in at this address. */
  async signIn(origin: string): Promise<string> {
    const api = createApiCaller(origin, adminToken);
    const request = { body: { token: adminToken }, headers: { origin } };
    const reply = await api('POST', '/api/v2/session', request);
    return reply.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
  }

  idOf(user: User): string {
    return this.#users[user].userId;
  }

  tokenOf(user: User): string {
    return this.#users[user].token;
  }

  /** Shares a target with the user, and accepts it as the user. */
  async share(target: string, user: User, role: string): Promise<ApiReply> {
    const path = `/api/v2/${target}/members/${this.idOf(user)}`;
    const reply = await this.api('owner')('PUT', path, { body: { role } });
    const [kinds, id] = target.split('/');
    await this.#accept(user, { kind: kinds?.slice(0, -1), id });
    return reply;
  }

  #accept(user: User, body: object): Promise<ApiReply> {
    return this.api(user)('POST', '/api/v2/shares/accept', { body });
  }

  unshare(target: string, user: User): Promise<ApiReply> {
    return this.api('owner')('DELETE', `/api/v2/${target}/members/${this.idOf(user)}`);
  }

  /** Makes the user an editor, and accepts that as the user. */
  async putEditor(user: User): Promise<ApiReply> {
    const body = { role: 'shared_editor' };
    const reply = await this.api('owner')('PUT', this.#memberPath(user), { body });
    await this.#accept(user, { kind: 'project', id: this.project.id });
    return reply;
  }

  deleteEditor(user: User): Promise<ApiReply> {
    return this.api('owner')('DELETE', this.#memberPath(user));
  }

  read(caller: Caller): Promise<ApiReply> {
    return this.api(caller)('GET', `/api/v2/devices/${this.deviceId}`);
  }

  launchDirect(caller: Caller, launchId?: string): Promise<ApiReply> {
    const body = startBody(this.deviceId, launchId);
    return this.api(caller)('POST', '/api/v2/devices/launchDirectAutomation', body);
  }

  launchProject(caller: Caller, command = 'start'): Promise<ApiReply> {
    const body = { device_ids: [this.deviceId], automationId: this.project.id, command };
    return this.api(caller)('POST', '/api/v2/devices/launchAutomation', { body });
  }

  stopAll(caller: Caller): Promise<ApiReply> {
    const body = { device_id: this.deviceId };
    return this.api(caller)('POST', '/api/v2/devices/stopAllAutomations', { body });
  }

  readLogs(caller: Caller, automationId: string): Promise<ApiReply> {
    const body = { device_id: this.deviceId, automation_ids: [automationId] };
    return this.api(caller)('POST', '/api/v2/devices/automationLogs', { body });
  }

  /** Run ID of the last launch that the host received. */
  get lastRunId(): string {
    return this.host.messages('launch').at(-1)?.runs[0]?.run_id ?? '';
  }

  /** Launches direct code, and returns the run. */
  async runDirect(caller: Caller, launchId?: string): Promise<string> {
    const { status, text } = await this.launchDirect(caller, launchId);
    if (status !== 200) throw new Error(text);
    return this.lastRunId;
  }

  async runProject(caller: Caller): Promise<string> {
    const { status, text } = await this.launchProject(caller);
    if (status !== 200) throw new Error(text);
    return this.lastRunId;
  }

  readRun(caller: Caller, runId: string): Promise<ApiReply> {
    return this.api(caller)('GET', `/api/v2/runs/${runId}`);
  }

  /** Returns the IDs of the runs on the phone that the caller sees. */
  async visibleRuns(caller: Caller): Promise<string[]> {
    const { body } = await this.api(caller)('GET', `/api/v2/runs?device_id=${this.deviceId}`);
    return Array.isArray(body['runs']) ? body['runs'].map((run) => stringAt(run, 'run_id')) : [];
  }

  async readMessages(caller: Caller, automationId: string): Promise<string[]> {
    const { body } = await this.readLogs(caller, automationId);
    return Array.isArray(body['logs']) ? body['logs'].map((entry) => stringAt(entry, 'message')) : [];
  }

  async pair(caller: Caller, method: 'GET' | 'POST', path: string): Promise<ApiReply> {
    this.host.requestHabit = 'answer';
    const reply = await this.api(caller)(method, `/api/v2/hosts/${this.host.hostId}/${path}`);
    this.host.requestHabit = 'silent';
    return reply;
  }

  async screenshot(caller: Caller): Promise<ApiReply> {
    const asked = this.host.waitFor('screenshot').then(({ request_id }) => {
      this.host.sendRaw(Buffer.from(`${JSON.stringify({ type: 'screenshot', request_id })}\n`));
    });
    const reply = await this.api(caller)('GET', `/api/v2/devices/${this.deviceId}/screenshot`);
    if (reply.status === 200) await asked;
    return reply;
  }

  async screen(caller: Caller): Promise<ApiReply> {
    const shown = { captured_at: 1, rotation: 0, width: 10, height: 20 };
    const asked = this.host.waitFor('screen').then(({ request_id }) => {
      const screen = JSON.stringify({
        ...shown,
        picture: null,
        tree: { packageName: '', source: '', root: {} },
      });
      this.host.sendRaw(Buffer.from(`${JSON.stringify({ type: 'screen', request_id })}\n${screen}`));
    });
    const reply = await this.api(caller)('GET', `/api/v2/devices/${this.deviceId}/screen`);
    if (reply.status === 200) await asked;
    return reply;
  }

  history(caller: Caller): Promise<ApiReply> {
    return this.#ask(caller, 'history', ['health', { facts: null, last_repair: null, events: [] }]);
  }

  apps(caller: Caller): Promise<ApiReply> {
    return this.#ask(caller, 'apps', ['apps', []]);
  }

  /** Requests a path of the device, and answers the question that its host receives. */
  async #ask(caller: Caller, path: string, [type, answer]: ['health' | 'apps', unknown]): Promise<ApiReply> {
    const asked = this.host.waitFor(type).then(({ request_id }) => {
      this.host.sendRaw(Buffer.from(`${JSON.stringify({ type, request_id })}\n${JSON.stringify(answer)}`));
    });
    const reply = await this.api(caller)('GET', `/api/v2/devices/${this.deviceId}/${path}`);
    if (reply.status === 200) await asked;
    return reply;
  }

  async touch(caller: Caller): Promise<ApiReply> {
    const asked = this.host.waitFor('input').then(({ request_id }) => {
      this.host.sendRaw(Buffer.from(`${JSON.stringify({ type: 'input', request_id })}\n`));
    });
    const body = { type: 'tap', x: 1, y: 2 };
    const reply = await this.api(caller)('POST', `/api/v2/devices/${this.deviceId}/input`, { body });
    if (reply.status === 200) await asked;
    return reply;
  }

  lease(caller: Caller, body: object = {}): Promise<ApiReply> {
    return this.api(caller)('POST', `/api/v2/devices/${this.deviceId}/lease`, { body });
  }

  endLease(caller: Caller): Promise<ApiReply> {
    return this.api(caller)('DELETE', `/api/v2/devices/${this.deviceId}/lease`);
  }

  #memberPath(user: User): string {
    return `/api/v2/automation-project/${this.project.id}/members/${this.idOf(user)}`;
  }
}
