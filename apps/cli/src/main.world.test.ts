import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { addCommands } from './commands/commands.ts';
import { type CliProcess, runCli } from './testing/cli-process.ts';
import { adminToken, TestService } from './testing/test-service.ts';

// Each test starts several processes, which takes its time on a busy machine.
let service: TestService;

beforeAll(async () => {
  service = await TestService.start(1);
});
afterAll(() => service.stop());

/** URL without a server: nothing listens on the reserved TCP port 2. */
const away = 'http://127.0.0.1:2';

describe('what cannot be done ends with exit code 2 and one line that says what to do', () => {
  const cases: Record<string, { args: string[]; env?: Record<string, string>; says: RegExp }> = {
    'no token': {
      args: ['devices'],
      says: /^No API token is set: run "phalanx login --server-url http:\/\/127\.0\.0\.1:8080", or pass one with --token-file or PHALANX_TOKEN\.$/,
    },
    'a token file that is missing': {
      args: ['devices', '--token-file', 'missing'],
      says: /^--token-file: missing cannot be read\.$/,
    },
    'a server that is away': {
      args: ['devices', '--server-url', away, '--token', 'x'],
      says: /^The service at http:\/\/127\.0\.0\.1:2 cannot be reached \(.+\)\. Start it, or pass its address with --server-url or PHALANX_SERVER_URL\.$/,
    },
    'an address that is none': {
      args: ['devices', '--server-url', 'phones.example.com', '--token', 'x'],
      says: /^--server-url must be an address such as https:\/\/.+, but is "phones\.example\.com"\.$/,
    },
    'an address of a variable that is none': {
      args: ['devices'],
      env: { PHALANX_SERVER_URL: 'ftp://x', PHALANX_TOKEN: 'x' },
      says: /^PHALANX_SERVER_URL must be an address/,
    },
    'a token that cannot be one': { args: ['devices', '--token', 'a b'], says: /^--token is not a token/ },
    'an unknown command of a group, with --help': {
      args: ['project', 'show', '--help'],
      says: /unknown command 'show'/,
    },
    'an unknown command': { args: ['devcies'], says: /unknown command 'devcies'.*devices/ },
    'an unknown option': { args: ['devices', '--colour'], says: /unknown option '--colour'/ },
    'a missing argument': { args: ['user', 'create'], says: /missing required argument 'name'/ },
    'logs of nothing': { args: ['logs', 'SIM0001'], says: /^Pass a device and an automation, or --run/ },
    'a launch without a device': { args: ['run', 'checkout'], says: /^Choose the devices: pass --device D/ },
    'a stop of one and all': { args: ['stop', '--all', '--device', 'x'], says: /^Choose the devices/ },
    'a file that is not there': {
      args: ['exec', 'no-such.ts', '--device', 'x'],
      says: /^no-such\.ts cannot be read/,
    },
    'a parameter without a value': {
      args: ['run', 'p', '--all-ready', '--param', 'name'],
      says: /^--param must be name=value/,
    },
    'a parameter that must be JSON': {
      args: ['run', 'p', '--all-ready', '--param', 'n:={'],
      says: /^--param n: the value after := must be JSON/,
    },
    'a status that is none': {
      args: ['runs', '--status', 'done'],
      says: /'done' is invalid\. Allowed choices are starting/,
    },
    'a scope that is none': {
      args: ['token', 'create', 'x', '--scopes', 'root'],
      says: /Expected a comma-separated list of read, launch/,
    },
    'an expiry that is none': {
      args: ['token', 'create', 'x', '--expires', 'soon'],
      says: /Expected days such as 30d/,
    },
    'an unknown setting of the service': {
      args: ['server'],
      env: { PHALANX_LISTNE: 'x' },
      says: /^Unknown setting PHALANX_LISTNE/,
    },
    'a bad setting of the service': {
      args: ['server', '--listen', 'nowhere'],
      says: /^PHALANX_LISTEN is "nowhere": give host:port/,
    },
    'a folder of no project': {
      args: ['project', 'push', '--server-url', away, '--token', 'x'],
      says: /^This folder belongs to no project/,
    },
  };

  test.each(Object.entries(cases))('%s', async (_name, { args, env, says }) => {
    const { code, stdout, stderr } = await runCli(args, {
      cwd: service.folder,
      env: { XDG_CONFIG_HOME: '/nowhere', ...env },
    });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr.trim()).toMatch(says);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });
});

test('a token that the server does not know ends with exit code 2 and says how to log in', async () => {
  const { code, stderr } = await service.run(['devices', '--token', 'phx_unknown']);
  expect(code).toBe(2);
  expect(stderr).toContain('phalanx login');
});

test.each([
  [200, '<html>', /is not a Phalanx service \(HTTP status 200\)/],
  [302, '', /redirects callers to https:\/\/phones\.example\.com\//],
])('what answers %i without being a Phalanx server is named', async (status, body, says) => {
  const other = createServer((_request, response) => {
    response.writeHead(status, { location: 'https://phones.example.com/' }).end(body);
  }).listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = other.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  const { code, stderr } = await service.run(['devices', '--server-url', url]);
  other.close();
  expect(code).toBe(2);
  expect(stderr).toMatch(says);
});

describe('a login', () => {
  let config: string;
  beforeAll(async () => {
    config = await mkdtemp(path.join(tmpdir(), 'phalanx-login-'));
  });
  afterAll(() => rm(config, { recursive: true }));

  test('is checked, stored for its owner alone, used, and sent to no other server', async () => {
    const env = { XDG_CONFIG_HOME: config };
    const wrong = await runCli(['login', '--server-url', service.url], { env, input: 'phx_wrong\n' });
    expect(wrong.code).toBe(2);
    const login = await runCli(['login', '--server-url', `${service.url}/`], {
      env,
      input: `${adminToken}\n`,
    });
    expect(login).toMatchObject({ code: 0, stderr: '' });
    expect(login.stdout).toMatch(/^Logged in to http:\/\/127\.0\.0\.1:\d+ as \S+, with the token/);

    const file = path.join(config, 'phalanx', 'login.json');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ server_url: service.url, token: adminToken });

    expect(await runCli(['devices'], { env })).toMatchObject({ code: 0 });
    const elsewhere = await runCli(['devices', '--server-url', away], { env });
    expect(elsewhere).toMatchObject({ code: 2 });
    expect(elsewhere.stderr).toContain(`The stored token is for ${service.url}`);

    // The command checks the server before it reads a token.
    const unreachable = await runCli(['login', '--server-url', away], { env, input: 'rubbish\n' });
    expect(unreachable.stderr).toMatch(/^The service at .+ cannot be reached/);

    expect(await runCli(['logout'], { env })).toMatchObject({ code: 0 });
    expect(await runCli(['devices'], { env })).toMatchObject({ code: 2 });
  });
});

async function programWith(words: readonly string[]): Promise<Command> {
  const program = new Command('phalanx');
  await addCommands(program, words);
  return program;
}

test('every command is loaded by its name, without the others', async () => {
  for (const command of (await programWith([])).commands) {
    const name = command.name();
    const names = (await programWith([name])).commands.map((one) => one.name());
    expect(names).toContain(name);
    expect(names.length).toBeLessThan(3);
  }
});

test('every command says in its help what it is for', async () => {
  const program = await programWith([]);
  const leaves = (command: Command): Command[] =>
    command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);
  expect(leaves(program).length).toBeGreaterThan(25);
  for (const command of leaves(program)) {
    expect(command.description()).not.toBe('');
    for (const option of command.options) expect(option.description).not.toBe('');
  }
});

test('a token may lie in a file, named by an option or a variable', async () => {
  const file = path.join(service.folder, 'token');
  await writeFile(file, `${adminToken}\n`);
  const env = { XDG_CONFIG_HOME: '/nowhere', PHALANX_SERVER_URL: service.url };
  expect(await runCli(['devices', '--token-file', file], { env })).toMatchObject({ code: 0 });
  expect(await runCli(['devices'], { env: { ...env, PHALANX_TOKEN_FILE: file } })).toMatchObject({ code: 0 });
});

test.each([
  [['devices', '--json', '--token', 'phx_unknown'], { code: 'unauthorized', exit_code: 2 }],
  [['devices', '--json', '--server-url', away], { code: 'server_unreachable', exit_code: 2 }],
  [['runs', '--json', '--status', 'done'], { code: 'usage', exit_code: 2 }],
  [['run', 'nothing', '--json', '--all-ready'], { code: 'refused', exit_code: 3 }],
])('with --json %j ends with an error in JSON', async (args, error) => {
  const { code, stdout, stderr } = await service.run(args);
  expect({ code, stdout }).toEqual({ code: error.exit_code, stdout: '' });
  expect(JSON.parse(stderr)).toMatchObject({ success: false, message: expect.any(String), ...error });
});

test('a refusal names the project and the phone as people do, beside their IDs', async () => {
  await service.run(['project', 'create', 'named', '--no-folder']);
  const commit = await service.run(['project', 'revert', '0'.repeat(40), '--project', 'named']);
  expect(commit).toMatchObject({ code: 3, stderr: expect.stringMatching(/ named \([0-9a-f-]{36}\)/) });
  const app = await service.run(['input', 'app', 'SIM0001', 'no.such.app']);
  expect(app).toMatchObject({ code: 3, stderr: expect.stringMatching(/ SIM0001 \([0-9a-f-]{36}\)/) });
});

test('a host says that it works for a server when that has taken it, and not before', async () => {
  const start = (token: string): CliProcess =>
    service.spawn(['host', '--adb-server', 'off'], {
      env: { PHALANX_DATA_DIR: path.join(service.folder, 'beside'), PHALANX_TOKEN: token },
    });
  const stranger = start('phx_unknown');
  await stranger.printed((stdout) => stdout.includes('give a valid one in PHALANX_TOKEN'));
  await stranger.end('SIGTERM');
  expect(stranger.stdout).not.toContain('connected to');
  const taken = start(adminToken);
  await taken.printed((stdout) => /^Host ".+" connected to http/m.test(stdout));
  await taken.end('SIGTERM');
});

test('`npm run phalanx` works in the folder where it was typed', async () => {
  const repository = fileURLToPath(new URL('../../..', import.meta.url));
  const words = ['--prefix', repository, 'run', '--silent', 'phalanx', '--', 'types', 'missing'];
  const typed = promisify(execFile)('npm', words, { cwd: service.folder });
  await expect(typed).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`${path.join(service.folder, 'missing')} is not a folder`),
  });
});

test('a file that cannot be used is named in a sentence', async () => {
  await writeFile(path.join(service.folder, 'file'), '');
  const dir = path.join(service.folder, 'file', 'below');
  const { code, stderr } = await service.run(['project', 'create', 'x', '--dir', dir]);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: `The folder ${dir} cannot be created: choose another one.\n`,
  });
});

test('the version is printed', async () => {
  expect(await runCli(['--version'])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
  });
});

test('help shows no default for what may be given several times', async () => {
  expect((await runCli(['run', '--help'])).stdout).not.toContain('[]');
});

test('the help lists the commands of both kinds, and the exit codes', async () => {
  const { code, stdout, stderr } = await runCli(['--help']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  for (const part of ['devices', 'project', 'server', 'demo', 'Exit codes:']) expect(stdout).toContain(part);
});
