import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { inheritedEnvironment } from '@phalanx/cli/testing/cli-process';
import { until } from '@phalanx/host/testing/until';

import { Program, startLimitMs } from '../support/program.ts';

const execute = promisify(execFile);
const launcher = fileURLToPath(new URL('../../apps/cli/bin/phalanx.mjs', import.meta.url));

/** Time limit in ms of a run that uses every name, beside three others on a busy machine. */
const runLimitMs = 290_000;

type Json = Record<string, unknown>;

/** `phalanx start` with simulated phones, and the access that its users have: HTTP, the CLI, git, a shell. */
export class Service {
  readonly folder: string;
  readonly url: string;
  readonly token: string;
  readonly env: Readonly<Record<string, string>>;
  readonly #program: Program;

  private constructor(parts: Pick<Service, 'folder' | 'url' | 'token' | 'env'>, program: Program) {
    this.folder = parts.folder;
    this.url = parts.url;
    this.token = parts.token;
    this.env = parts.env;
    this.#program = program;
  }

  /** Starts a service. Resolves when all phones are ready. */
  static async start(phones: number, settings: Readonly<Record<string, string>> = {}): Promise<Service> {
    const folder = await mkdtemp(path.join(tmpdir(), 'phalanx-user-'));
    await mkdir(path.join(folder, 'bin'));
    await symlink(launcher, path.join(folder, 'bin', 'phalanx'));
    const env = {
      PATH: `${path.join(folder, 'bin')}${path.delimiter}${process.env['PATH'] ?? ''}`,
      HOME: folder,
      GIT_CONFIG_NOSYSTEM: '1',
    };
    // The automations call this service as their web service.
    const opened = ['--allow-private-fetch', '--allow-app-changes', '--allow-shell', '--allow-sms'].flatMap(
      (flag) => [flag, 'true'],
    );
    const adbServer = settings['PHALANX_ADB_SERVER'] ?? 'off';
    const options = ['--listen', '127.0.0.1:0', '--adb-server', adbServer, ...opened];
    const command = ['start', '--simulated-phones', String(phones), ...options];
    const program = new Program(command, { ...env, ...settings }, { program: ['phalanx'], cwd: folder });
    try {
      const [, url = ''] = await program.printed(/Phalanx is at (\S+)/);
      const [, tokenFile = ''] = await program.printed(/token is in (.+): copy it/);
      const token = (await readFile(tokenFile, 'utf8')).trim();
      const caller = { ...inheritedEnvironment(), ...env, PHALANX_SERVER_URL: url, PHALANX_TOKEN: token };
      const service = new Service({ folder, url, token, env: caller }, program);
      await service.readyDevices(phones);
      return service;
    } catch (error) {
      await program.end();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.#program.end();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Calls an endpoint. Throws the service's message on failure. */
  async call(method: string, address: string, body?: Json): Promise<Json> {
    const response = await fetch(`${this.url}${address}`, {
      method,
      headers: { authorization: `Bearer ${this.token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const reply = (await response.json()) as Json;
    if (!response.ok) throw new Error(JSON.stringify(reply, null, 2));
    return reply;
  }

  /** Runs a program. Returns its output; on failure, throws with all of it. */
  async run(command: string, args: readonly string[], cwd = this.folder): Promise<string> {
    const { stdout } = await execute(command, [...args], { cwd, env: this.env, maxBuffer: 2 ** 26 });
    return stdout;
  }

  /**
   * Runs commands at a prompt, and enters the token when asked. Returns their output; if one fails, throws with all
   * of it.
   */
  async shell(commands: string): Promise<string> {
    const { PHALANX_TOKEN: token = '', ...env } = this.env;
    const shell = execute('bash', ['-ec', commands], { cwd: this.folder, env: { ...env, TOKEN: token } });
    // Commands that read no input may have ended before it arrives.
    shell.child.stdin?.on('error', () => {});
    shell.child.stdin?.end(`${token}\n`);
    const { stdout, stderr } = await shell;
    return stdout + stderr;
  }

  /**
   * Returns the ready devices in the order of their serial numbers, because IDs follow the order in which phones were
   * first seen.
   */
  async readyDevices(count: number): Promise<string[]> {
    const isReady = ({ state }: Json): boolean => state === 'ready' || state === 'busy';
    const devices = await until(
      `${count} devices to be ready`,
      async () => (await this.call('GET', '/api/v2/devices'))['devices'] as Json[],
      (all) => all.filter(isReady).length === count,
      startLimitMs,
    );
    return devices
      .filter(isReady)
      .sort((a, b) => String(a['serial']).localeCompare(String(b['serial'])))
      .map((device) => String(device['device_id']));
  }

  /** Creates a project with files by path. */
  async createProject(name: string, files: Readonly<Record<string, string>> = {}): Promise<string> {
    const { project } = await this.call('POST', '/api/v2/automation-project', { name });
    const id = String((project as Json)['id']);
    for (const [file, content] of Object.entries(files)) await this.writeFile(id, file, content);
    return id;
  }

  async writeFile(projectId: string, file: string, content: string): Promise<void> {
    await this.call('PUT', `/api/v2/automation/file/${projectId}`, { path: file, content });
  }

  async readFile(projectId: string, file: string): Promise<string> {
    const address = `/api/v2/automation/file/${projectId}?path=${encodeURIComponent(file)}`;
    return String((await this.call('GET', address))['content']);
  }

  /** Launches a saved project. Returns its run after the end. */
  async launch(deviceId: string, projectId: string, automationParameters: Json = {}): Promise<Json> {
    const body = {
      automationId: projectId,
      command: 'start',
      automationParameters,
      jobVariables: { job: 7 },
    };
    await this.call('POST', '/api/v2/devices/launchAutomation', { ...body, device_ids: [deviceId] });
    return this.untilRunEnded(projectId, `&device_id=${deviceId}`);
  }

  /** Returns the newest run of a project after its end. */
  async untilRunEnded(projectId: string, more = ''): Promise<Json> {
    const [run = {}] = await until(
      'the end of the run',
      async () =>
        (await this.call('GET', `/api/v2/runs?automation_id=${projectId}${more}`))['runs'] as Json[],
      ([newest]) => Boolean(newest?.['ended_at']),
      runLimitMs,
    );
    return run;
  }

  async readLog(deviceId: string, automationId: string): Promise<Json[]> {
    const entries: Json[] = [];
    for (;;) {
      const from = entries.at(-1)?.['id'];
      const body = {
        device_id: deviceId,
        automation_ids: [automationId],
        ...(from === undefined ? {} : { from }),
      };
      const { logs } = await this.call('POST', '/api/v2/devices/automationLogs', body);
      if ((logs as Json[]).length === 0) return entries;
      entries.push(...(logs as Json[]));
    }
  }
}
