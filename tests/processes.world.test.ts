/**
 * Checks the processes that the service starts: each has a lower priority than the service and ends with it. All
 * processes are real.
 */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, chownSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { until } from '@phalanx/host/testing/until';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { family, living, type ProcessState, tryRead } from './support/processes.ts';
import { Program, startLimitMs } from './support/program.ts';

const isRoot = process.getuid?.() === 0;
const token = 'administrator-token-of-this-test-0123456789';
const repository = fileURLToPath(new URL('..', import.meta.url));
/** User ID without permissions, who owns no files except those of the test. */
const otherUser = 47_391;
const asOther = ['setpriv', `--reuid=${otherUser}`, `--regid=${otherUser}`, '--clear-groups'];
/** Time limit in ms of four starts of the service, three of them after a kill, on a busy machine. */
const allKillsMs = 600_000;
/** Each step triples the work of the checker, which never ends. */
const typeBomb = [
  'let a0 = 1;',
  ...Array.from({ length: 300 }, (_, n) => `let a${n + 1} = () => [a${n}, a${n}, a${n}] as const;`),
  'export const q: string = a300;\n',
].join('\n');

/** Patterns in the command lines of processes that the service starts. */
const kinds = [/--allow-addons/, /tsc|tsgo|typescript/, /esbuild/, /cat-file|git/, /compile/];

let folder: string;
let program: Program | undefined;
let started: ProcessState[] = [];

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'phalanx-processes-'));
  chmodSync(folder, 0o755);
});
afterEach(async () => {
  await program?.end('SIGKILL');
  await expect.poll(() => living(started)).toEqual([]);
  rmSync(folder, { recursive: true });
});

interface Start {
  /** Command before `npm start`, or instead of it. */
  readonly command?: readonly string[];
  readonly user?: number;
}

/** Starts the service in a separate process group, whose leader is the outermost process. */
async function start({ command = ['npm', 'start', '--'], user }: Start = {}): Promise<string> {
  const home = path.join(folder, 'home');
  if (!existsSync(home)) mkdirSync(home);
  if (user !== undefined) for (const each of [folder, home]) chownSync(each, user, user);
  const become = user === undefined ? [] : asOther;
  const env = {
    PHALANX_LISTEN: '127.0.0.1:0',
    PHALANX_ADB_SERVER: 'off',
    PHALANX_ADMIN_TOKEN: token,
    PHALANX_DATA_DIR: path.join(folder, 'data'),
    PHALANX_SIMULATED_PHONES: '1',
    HOME: home,
    npm_config_update_notifier: 'false',
  };
  program = new Program([], env, { program: ['setsid', ...become, ...command], cwd: repository });
  const [, url = ''] = await program.printed(/is at (http:\S+)/);
  started = family(program.pid ?? 0);
  return url;
}

/** Returns the innermost process of the service, which has started all others. */
const serviceOf = (processes: readonly ProcessState[]): ProcessState | undefined =>
  processes.find(({ command }) => /main\.ts start/.test(command) && !/setpriv|run\.mjs/.test(command));

async function call<Reply>(url: string, method: string, route: string, body?: object): Promise<Reply> {
  const reply = await fetch(`${url}/api/v2${route}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const answer: unknown = await reply.json();
  if (!reply.ok) throw new Error(JSON.stringify(answer));
  return answer as Reply;
}

/** Starts a run that computes, a check that never ends, and a project whose git commands wait for more work. */
async function keepBusy(url: string): Promise<void> {
  type Devices = { devices: { device_id: string; state: string }[] };
  const [phone] = await until(
    'a ready phone',
    async () => (await call<Devices>(url, 'GET', '/devices')).devices,
    ([device]) => device?.state === 'ready',
    startLimitMs,
  );
  type Created = { project: { id: string } };
  const { project } = await call<Created>(url, 'POST', '/automation-project', {
    name: `busy ${crypto.randomUUID()}`,
  });
  await call(url, 'PUT', `/automation/file/${project.id}`, {
    path: 'a.ts',
    content: 'export const a = 1;\n',
  });
  await call(url, 'POST', '/devices/launchDirectAutomation', {
    device_id: phone?.device_id,
    launch_id: crypto.randomUUID(),
    command: 'start',
    code: 'while (true);',
  });
  const bomb = { path: 'bomb.ts', content: typeBomb };
  void call(url, 'PUT', `/automation/file/${project.id}`, bomb).catch(() => undefined);
  started = await until(
    'all that keeps it busy',
    () => family(program?.pid ?? 0),
    (all) => all.length > 8 && kinds.every((kind) => all.some(({ command }) => kind.test(command))),
    startLimitMs,
  );
  // All of them are busy now.
  await sleep(500);
  started = family(program?.pid ?? 0);
}

const nicesOf = (pid: number): number[] =>
  readdirSync(`/proc/${pid}/task`).map((thread) => getPriority(Number(thread)));

describe.runIf(process.platform === 'linux')('what the service starts', () => {
  test('weighs less than the service, also where the kernel shares by session', async () => {
    await keepBusy(await start());
    const service = serviceOf(started);
    // Excludes the service's own esbuild, which builds the sandbox program, and the process that starts others: they
    // do no work of a user.
    const isOwn = ({ pid, parent, command }: ProcessState): boolean =>
      pid === service?.pid || (parent === service?.pid && /\/bin\/esbuild|--starter/.test(command));
    const children = family(service?.pid ?? 0).filter((process_) => !isOwn(process_));
    expect(nicesOf(service?.pid ?? 0).toSorted((a, b) => a - b)[0]).toBe(0);
    const words = children.map(({ command }) => command).join('\n');
    for (const kind of kinds) expect(words).toMatch(kind);
    const group = tryRead(`/proc/${service?.pid}/autogroup`);
    for (const { pid, session, command } of children) {
      if (tryRead(`/proc/${pid}/stat`) === '') continue;
      expect({ command, heavier: nicesOf(pid).filter((nice) => nice < 5) }).toEqual({ command, heavier: [] });
      expect({ command, session }).toEqual({ command, session: service?.session });
      expect(tryRead(`/proc/${pid}/autogroup`)).toBe(group);
    }
  });

  const users: [string, Start][] = [['its owner', {}]];
  if (isRoot) users.push(['a user without rights', { user: otherUser }]);

  const kills: [string, () => void][] = [
    ['npm with its group', () => void process.kill(-(program?.pid ?? 0), 'SIGKILL')],
    ['npm alone', () => void process.kill(program?.pid ?? 0, 'SIGKILL')],
    ['the service', () => void process.kill(serviceOf(started)?.pid ?? 0, 'SIGKILL')],
  ];

  test.each(users)(
    'ends, whatever it works on and whichever process is killed, when %s has started it, and each next start finds all in order',
    async (_, who) => {
      let url = await start(who);
      for (const [what, kill] of kills) {
        await keepBusy(url);
        expect(started.length, what).toBeGreaterThan(8);
        kill();
        await expect.poll(() => living(started), { message: what }).toEqual([]);
        url = await start(who);
        expect(await call(url, 'GET', '/me'), what).toMatchObject({ success: true });
      }
    },
    allKillsMs,
  );
});
