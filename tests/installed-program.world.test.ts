import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { PhalanxClient } from '@phalanx/client';
import { openConfinement } from '@phalanx/confinement';
import { until } from '@phalanx/host/testing/until';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Program } from './support/program.ts';

const run = promisify(execFile);
const repository = fileURLToPath(new URL('..', import.meta.url));
/** Time limit in ms: several processes start, and packages are downloaded. */
const timeLimitMs = 600_000;

/** Names of settings of the process that runs this test. */
const ofThisRun = /^(npm_|PHALANX_|TEST|VITEST|VITE_|NODE_ENV$|NODE_OPTIONS$)/i;
/** Network settings of the machine, such as certificates and proxies, which a user's shell has too. */
const ofMachine = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value = '']) =>
    ofThisRun.test(name) ? [] : [[name, value] as const],
  ),
);

/** PATH with the machine's own Node and npm instead of the repository's. */
const machinePath = (process.env['PATH'] ?? '')
  .split(path.delimiter)
  .filter((folder) => !folder.startsWith(repository))
  .join(path.delimiter);

let folder: string;
let env: Record<string, string>;
let service: Program | undefined;
let client: PhalanxClient;

const tableMs = 300_000;
const cities = ['London', 'Paris, Texas', 'Łódź', '"Home"'];
const people = Array.from({ length: 24 }, (_, row) => ({
  name: `Person ${row}`,
  city: cities[row % cities.length] ?? '',
}));
const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
const table = ['name,city', ...people.map(({ name, city }) => `${name},${quoted(city)}`)].join('\n');
const greet = `const { name, city } = agent.arguments.jobVariables as { name: string; city: string };
await agent.actions.screenContent();
agent.control.setResult({ greeting: 'Hello ' + name + ' of ' + city });`;
const expected = people.map(({ name, city }) => `Hello ${name} of ${city}`);

/** Returns the last column of an export. */
const greetingsOf = (text: string): string[] =>
  [...text.matchAll(/,("(?:[^"]|"")*"|[^,"\r\n]*)\r\n/g)]
    .map(([, cell = '']) => (cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell))
    .slice(1);

const at = (...names: string[]): string => path.join(folder, ...names);

/** Runs the installed `phalanx`, found in PATH like in a shell. */
async function phalanx(args: readonly string[], cwd = folder): Promise<string> {
  const { stdout } = await run('phalanx', [...args], { cwd, env });
  return stdout;
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'phalanx-installed-'));
  env = {
    ...ofMachine,
    PATH: `${at('prefix', 'bin')}${path.delimiter}${machinePath}`,
    HOME: process.env['HOME'] ?? folder,
    XDG_CONFIG_HOME: at('config'),
    XDG_CACHE_HOME: at('cache'),
  };
  await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: repository, env });
  const tarball = at(`phalanx-${await packedVersion()}.tgz`);
  const options = ['--global', '--prefix', at('prefix'), '--prefer-offline', '--no-audit', '--no-fund'];
  await run('npm', ['install', ...options, tarball], { cwd: folder, env });
}, timeLimitMs);

afterAll(async () => {
  await service?.end('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

async function packedVersion(): Promise<string> {
  const { stdout } = await run('npm', ['pkg', 'get', 'version'], { cwd: repository, env });
  return JSON.parse(stdout) as string;
}

test('it says its version', async () => {
  expect((await phalanx(['--version'])).trim()).toBe(await packedVersion());
});

describe('a first day', () => {
  beforeAll(async () => {
    await mkdir(at('service'));
    service = new Program(['start', '--simulated-phones', '3', '--listen', '127.0.0.1:0'], env, {
      program: [at('prefix', 'bin', 'phalanx')],
      cwd: at('service'),
    });
    const [, url = ''] = await service.printed(/Phalanx is at (\S+)/);
    const [, tokenFile = ''] = await service.printed(/token is in (.+): copy it/);
    const token = (await readFile(tokenFile, 'utf8')).trim();
    client = new PhalanxClient({ url, token });
    expect(await phalanx(['login', '--server-url', url, '--token-file', tokenFile])).toContain(url);
  }, timeLimitMs);

  test('its console is there, built', async () => {
    const [, url = ''] = (await service?.printed(/Phalanx is at (\S+)/)) ?? [];
    const page = await (await fetch(`${url}/devices`)).text();
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(page)?.[1] ?? '';
    const reply = await fetch(`${url}${script}`, { headers: { 'accept-encoding': 'br' } });
    expect([reply.status, reply.headers.get('content-encoding')]).toEqual([200, 'br']);
  });

  test('it confines user code as a clone of the repository does', async () => {
    const { description } = await openConfinement();
    expect((await service?.printed(/"msg":"(User code is [^"]+)"/))?.[1]).toBe(description);
  });

  test(
    'a project is created, pushed, run and its log is read, in any folder',
    async () => {
      await phalanx(['project', 'create', 'checkout']);
      await phalanx(['project', 'push'], at('checkout'));
      await expect.poll(() => phalanx(['devices']), { timeout: 60_000 }).toMatch(/SIM0001 +ready/);
      await phalanx(['run', '--device', 'SIM0001', '--follow'], at('checkout'));
      expect(await phalanx(['logs', 'SIM0001', 'checkout'])).toContain('Hello from');
      expect(await phalanx(['runs'])).toMatch(/checkout +SIM0001 +completed/);
    },
    timeLimitMs,
  );

  test(
    'a table of inputs over three phones has the same results by the command line alone and by the typed client',
    async () => {
      await phalanx(['project', 'create', 'greetings']);
      await writeFile(at('greetings', 'main.ts'), greet);
      await writeFile(at('greetings', 'people.csv'), table);
      await phalanx(['project', 'push'], at('greetings'));
      const create = ['jobs', 'create', '--labels', 'sdk>=1', '--inputs', 'people.csv'];
      const printed = await phalanx([...create, '--follow'], at('greetings'));
      const id = /Job (\S+) of greetings: completed, tasks: 24 completed\./.exec(printed)?.[1] ?? printed;
      await phalanx(['jobs', 'results', id, '--out', 'results.csv'], at('greetings'));
      const byCommands = await readFile(at('greetings', 'results.csv'), 'utf8');
      expect(greetingsOf(byCommands)).toEqual(expected);

      const { automation_id } = (await client.api.getJob({ params: { id } })).job;
      const body = { automation_id, selector: 'sdk>=1', inputs: people };
      const { job } = await client.api.createJob({ body });
      const params = { id: job.id };
      const readJob = async () => (await client.api.getJob({ params })).job;
      await until('the end of the job', readJob, ({ ended_at }) => ended_at !== null, tableMs);
      const { tasks } = await client.api.listJobTasks({ params, query: { limit: people.length } });
      expect(tasks.filter(({ status }) => status !== 'completed')).toEqual([]);
      expect(new Set(tasks.map(({ device_id }) => device_id)).size).toBe(3);
      const byClient = await (await client.api.exportJobResults({ params })).text();
      expect(greetingsOf(byClient)).toEqual(expected);
    },
    timeLimitMs,
  );

  test('golden screens are tested without the server, and a failure has its exit code', async () => {
    expect(await phalanx(['test'], at('checkout'))).toContain('1 golden screen as expected');
    const code = (await readFile(at('checkout', 'main.ts'), 'utf8')).replace("'Home'", "'Start'");
    await writeFile(at('checkout', 'main.ts'), code);
    await expect(phalanx(['test', '--junit', 'report.xml'], at('checkout'))).rejects.toMatchObject({
      code: 4,
      stdout: expect.stringContaining('expected "Home", got "Start"'),
    });
    expect(await readFile(at('checkout', 'report.xml'), 'utf8')).toContain('<failure type="state"');
  });

  test('it ends at Ctrl-C, and its data is in the folder where it was started', async () => {
    await service?.end('SIGINT');
    expect(service?.exitCode).toBe(0);
    const { stdout } = await run('ls', [at('service')]);
    expect(stdout.trim()).toBe('data');
  });
});
