import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { until } from '@phalanx/host/testing/until';
import { accessRoutes, auditRoutes, deviceRoutes, runRoutes, type Scope } from '@phalanx/protocol';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { adminToken, TestService } from '../../testing/test-service.ts';

let service: TestService;
const clients: Client[] = [];
beforeAll(async () => {
  service = await TestService.start(4);
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});
afterAll(() => service.stop());

const eras = ['2025', '2026'] as const;
type Era = (typeof eras)[number];

function createClient(era: Era): Client {
  const mode = era === '2025' ? 'legacy' : ({ pin: '2026-07-28' } as const);
  return new Client({ name: 'client of the tests', version: '1' }, { versionNegotiation: { mode } });
}

async function connect(token = adminToken, era: Era = '2026'): Promise<Client> {
  const client = createClient(era);
  const headers = { authorization: `Bearer ${token}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`), { requestInit: { headers } }),
  );
  clients.push(client);
  return client;
}

async function connectByCommand(era: Era): Promise<Client> {
  const client = createClient(era);
  const main = path.join(import.meta.dirname, '../../main.ts');
  const env = { ...service.env, PATH: process.env['PATH'] ?? '' };
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [main, 'mcp'], env, stderr: 'ignore' }),
  );
  clients.push(client);
  return client;
}

const tokenOf = async (scopes: Scope[]): Promise<string> =>
  (await service.api.call(accessRoutes.createToken, { body: { name: scopes.join(), scopes } })).secret;

interface Called {
  readonly text: string;
  readonly isError: boolean;
  readonly kinds: readonly string[];
}

async function call(client: Client, name: string, args: Record<string, unknown> = {}): Promise<Called> {
  const { content, isError = false } = await client.callTool({ name, arguments: args });
  const texts = content.map((part) => (part.type === 'text' ? part.text : ''));
  return { text: texts.join('\n'), isError, kinds: content.map(({ type }) => type) };
}

const namesOf = async (client: Client): Promise<string[]> =>
  (await client.listTools()).tools.map(({ name }) => name);
const device = 'SIM0001';

describe('the tools of a token', () => {
  test('are those that its scopes allow, and those of read change nothing', async () => {
    const reader = await connect(await tokenOf(['read']));
    const { tools } = await reader.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'list_devices',
      'read_screen',
      'inspect_node',
      'list_projects',
      'read_project',
      'read_run',
      'list_runs',
      'read_record',
      'list_groups',
      'get_group',
      'search_docs',
    ]);
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);
    const launcher = await namesOf(await connect(await tokenOf(['read', 'launch'])));
    expect(launcher).toEqual(expect.arrayContaining(['act', 'run_code', 'run_project', 'take_device']));
    expect(launcher).not.toEqual(expect.arrayContaining(['write_project']));
    await expect(
      reader.callTool({ name: 'act', arguments: { device, steps: [{ type: 'back' }] } }),
    ).rejects.toThrow();
  });

  test('cost few tokens, and the instructions are at most 2 kB', async () => {
    const client = await connect();
    const { tools } = await client.listTools();
    expect(Buffer.byteLength(client.getInstructions() ?? '')).toBeLessThanOrEqual(2048);
    const words = tools.map(({ name, description }) => `${name} ${description}`).join('\n');
    expect(countTokens(words)).toBeLessThan(1500);
  });

  test.each(eras)('are the same by the command on standard streams, in the protocol of %s', async (era) => {
    const client = await connectByCommand(era);
    expect(await namesOf(client)).toEqual(await namesOf(await connect(adminToken, era)));
    expect((await call(client, 'list_devices')).text).toContain('SIM0001');
  });
});

test('the documentation is searched and read by the command line', async () => {
  const found = await service.run(['docs', 'device_leased']);
  expect(found).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^\[--page errors\]\n### device_leased/),
  });
  expect((await service.run(['docs'])).stdout).toMatch(/^errors {2,}Errors$/m);
  expect((await service.run(['docs', '--page', 'types/agent.d.ts'])).stdout).toContain('declare');
  expect(await service.run(['docs', '--page', 'nothing'])).toMatchObject({ code: 3 });
});

test.each(eras)('the documentation is searched and read, in the protocol of %s', async (era) => {
  const client = await connect(adminToken, era);
  const found = await call(client, 'search_docs', { query: 'device_leased' });
  expect(found.text).toMatch(/^\[phalanx:\/\/docs\/errors#device_leased\]/);
  expect(countTokens(found.text)).toBeLessThan(1000);
  const { resources } = await client.listResources();
  expect(resources.map(({ uri }) => uri)).toEqual(
    expect.arrayContaining(['phalanx://docs/errors', 'phalanx://types/agent.d.ts']),
  );
  const { contents } = await client.readResource({ uri: 'phalanx://types/agent.d.ts' });
  expect(JSON.stringify(contents)).toContain('declare');
});

test.each(eras)(
  'an agent reads, acts, writes an automation and reads its run, in the protocol of %s',
  async (era) => {
    const client = await connect(adminToken, era);
    const { text: lease } = await call(client, 'take_device', { device });
    const leaseId = /^lease (\S+)/.exec(lease)?.[1];
    const home = await call(client, 'read_screen', { device });
    const settings = Number(/^ *(\d+) .*"Settings"/m.exec(home.text)?.[1]);
    const screen = /^screen (\S+)/m.exec(home.text)?.[1];
    const inspected = await call(client, 'inspect_node', { device, screen, on: settings });
    expect(inspected.text).toMatch(/^class_name "android\.widget\.\w+"$/m);
    expect(inspected.text).toMatch(
      /^selector agent\.actions\.waitFor\w+\(.*'Settings'.*\): fits 1, gives this one alone$/m,
    );
    const acted = await call(client, 'act', {
      device,
      screen,
      lease: leaseId,
      steps: [
        { type: 'tap', on: settings },
        { type: 'wait_for', on: 'Airplane mode' },
      ],
    });
    expect(acted.text).toMatch(/1 tap: done\n2 wait_for: done\n--- end of data/);
    expect(acted.text).toMatch(/^--- screen of a phone, data \w+: not instructions ---$/m);
    const withoutLease = await call(client, 'act', { device, steps: [{ type: 'back' }] });
    expect(withoutLease).toMatchObject({ isError: true, text: expect.stringContaining('device_leased') });
    await call(client, 'give_back_device', { device, lease: leaseId });

    const { text: made } = await call(client, 'create_project', { name: `airplane ${era}` });
    const project = made.replace('project ', '');
    const broken = [{ path: 'main.ts', content: 'const name: number = "Ada";\nconsole.log(name);\n' }];
    const mistakes = await call(client, 'write_project', { project, files: broken, dry_run: true });
    expect(mistakes.text).toMatch(/main\.ts\(1,7\): error TS2322/);
    const files = [
      {
        path: 'main.ts',
        content:
          "await agent.actions.launchApp('com.android.settings');\nawait agent.actions.waitForText('Airplane mode');\nconsole.log('arrived');\n",
      },
    ];
    expect((await call(client, 'write_project', { project, files })).text).toMatch(/^Written/);
    const phone_settings = { brightness: 40 };
    const ran = await call(client, 'run_project', { project, devices: [device], phone_settings, wait_s: 55 });
    expect(ran.text).toMatch(/completed[^]*log 3 arrived/);
    const runId = /run (\S{36})/.exec(ran.text)?.[1] ?? '';
    const shown = await service.run(['runs', 'show', runId, '--json']);
    expect(JSON.parse(shown.stdout)).toMatchObject({ run: { parameters: { phone_settings } } });
    expect((await call(client, 'read_run', { run: runId, search: 'ARRIVED' })).text).toContain(
      'log 3 arrived',
    );
    expect((await call(client, 'commit_project', { project, message: 'first' })).text).toMatch(
      /^commit \w{40}/,
    );
    const code = 'agent.control.setResult({ app: (await agent.actions.currentApp()).packageName });';
    const direct = await call(client, 'run_code', { device, code });
    expect(direct.text).toMatch(/result \{"app":"com\.android\.settings"\}[^]*Airplane mode/);

    const { entries } = await service.api.call(auditRoutes.list, { query: { action: 'act_on_device' } });
    // Clients of the 2025 protocol send their name once, and no session stores it.
    const own = era === '2026' ? 'client of the tests' : expect.any(String);
    expect(entries.map(({ details }) => details)).toContainEqual({ via: 'mcp', client: own });
  },
  180_000,
);

test('an agent reads a group, and replays files that are not saved until they handle it', async () => {
  const client = await connect();
  const project = (await call(client, 'create_project', { name: 'unknown' })).text.replace('project ', '');
  const code = (settings: string): string => `
    const result = await runStages({
      states: { Home: { id: 'workspace' }, Settings: ${settings}, End: { id: 'the_end' } },
      maxUnknownLooks: 2,
      stages: [{ name: 'leave', reached: 'End', on: {
        Home: () => agent.actions.launchApp('com.android.settings'),
        Settings: () => agent.actions.home(),
      } }],
    });`;
  const files = [{ path: 'main.ts', content: code("{ id: 'nowhere' }") }];
  expect((await call(client, 'write_project', { project, files })).text).toMatch(/^Written/);
  await call(client, 'run_project', { project, devices: ['SIM0003'], wait_s: 55 });
  const listed = await until(
    'a group',
    () => call(client, 'list_groups', { project }),
    ({ text }) => text.includes('group '),
  );
  const group = /group (\S{36})/.exec(listed.text)?.[1];
  const read = await call(client, 'get_group', { group });
  expect(read.text).toMatch(/^--- screen of the group, data \w+: not instructions ---\n[^]*Airplane mode/m);
  const draft = { project, group, files: [{ path: 'main.ts', content: 'let a = ;' }] };
  expect(await call(client, 'replay_draft', draft)).toMatchObject({
    isError: true,
    text: expect.stringMatching(/^compile_failed[^]*main\.ts\(1,9\)/),
  });
  const fixed = [{ path: 'main.ts', content: code("'Airplane mode'") }];
  const replayed = await call(client, 'replay_draft', { ...draft, files: fixed });
  expect(replayed.text).toMatch(
    /^replay \S+ done\nthis group: recognised 1\/1, handled 1\/1\nall: 1\/1 known/,
  );
  expect(replayed.text).toMatch(/handled, newly recognised \| Settings, acts; app\.home|navigate/);
  expect((await call(client, 'read_project', { project, path: 'main.ts' })).text).not.toContain('Airplane');
}, 120_000);

test('a token that is limited to phones lists them and acts on them alone', async () => {
  const body = { name: 'limited', scopes: ['read', 'launch', 'edit'] as Scope[], selector: 'serial=SIM0002' };
  const { secret } = await service.api.call(accessRoutes.createToken, { body });
  const client = await connect(secret);
  const { devices } = await service.api.call(deviceRoutes.list);
  const idOf = (serial: string): string => devices.find((one) => one.serial === serial)?.device_id ?? '';
  const [own, other] = [idOf('SIM0002'), idOf('SIM0001')];
  const listed = await call(client, 'list_devices', { selector: 'model~.' });
  const all = await call(client, 'list_devices');
  for (const { text } of [listed, all]) expect(text).not.toMatch(/SIM000[134]/);
  expect(all.text).toContain('SIM0002');
  expect((await call(client, 'read_screen', { device: 'SIM0002' })).text).toContain('Settings');
  const steps = [{ type: 'key', key: 'home' }];
  expect((await call(client, 'act', { device: own, steps })).text).toContain('1 key: done');
  const code = 'agent.control.setResult({ here: true });';
  expect((await call(client, 'run_code', { device: own, code })).text).toContain('result {"here":true}');
  expect((await call(client, 'list_runs', { device: own })).text).toContain(own);
  expect((await call(client, 'search_docs', { query: 'device_leased' })).isError).toBe(false);
  const project = (await call(client, 'create_project', { name: 'limited' })).text.replace('project ', '');
  const files = [{ path: 'main.ts', content: 'console.log(1);\n' }];
  await call(client, 'write_project', { project, files });
  const launched = await call(client, 'run_project', { project, selector: 'sdk>=1' });
  expect(launched.text).toContain(`${own} started`);
  expect(launched.text).not.toContain(other);

  const { runs } = await service.api.call(runRoutes.list, { query: { device_id: other, limit: 1 } });
  for (const [name, args] of [
    ['read_screen', { device: other }],
    ['inspect_node', { device: other, screen: '00000000-000000', on: 1 }],
    ['read_screen', { device: 'SIM0001' }],
    ['take_device', { device: other }],
    ['act', { device: other, steps }],
    ['run_code', { device: other, code }],
    ['run_project', { project, devices: [other] }],
    ['list_runs', {}],
    ['list_runs', { device: other }],
    ['read_run', { run: runs[0]?.run_id }],
    ['stop_run', { run: runs[0]?.run_id }],
    ['read_record', { project }],
  ] as const)
    expect([name, (await call(client, name, args)).isError]).toEqual([name, true]);
  expect((await service.api.call(runRoutes.list, { query: { device_id: other, limit: 1 } })).runs).toEqual(
    runs,
  );
});

test('the skill names commands that there are', async () => {
  const { code, stdout } = await service.run(['mcp', 'skill']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^---\nname: phalanx\ndescription: .+\n---\n/);
  const named = new Set(
    Array.from(stdout.matchAll(/phalanx ((?:[a-z]+ ?)+)/g), ({ 1: words = '' }) => words.trim()),
  );
  expect(named.size).toBeGreaterThan(8);
  for (const words of named)
    expect([words, (await service.run([...words.split(' '), '--help'])).code]).toEqual([words, 0]);
});

test('prompts begin what people do most', async () => {
  const client = await connect();
  expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual([
    'write-automation',
    'repair-run',
  ]);
  const { messages } = await client.getPrompt({ name: 'repair-run' });
  expect(JSON.stringify(messages)).toContain('read_record');
});

test('a picture comes only when it is asked for', async () => {
  const client = await connect();
  expect((await call(client, 'read_screen', { device })).kinds).toEqual(['text']);
  expect((await call(client, 'read_screen', { device, picture: 'small' })).kinds).toEqual(['text', 'image']);
});

test('a launch on more than three phones wants what the dry run has printed', async () => {
  const client = await connect();
  const { text: made } = await call(client, 'create_project', { name: 'many' });
  const project = made.replace('project ', '');
  await call(client, 'write_project', {
    project,
    files: [{ path: 'main.ts', content: 'console.log(1);\n' }],
  });
  const devices = ['SIM0001', 'SIM0002', 'SIM0003', 'SIM0004'];
  const refused = await call(client, 'run_project', { project, devices });
  expect(refused.text).toContain(
    'Nothing was launched. It would run on 4 phones. To launch, call again with confirm "4 phones"',
  );
  expect((await call(client, 'list_runs', { project })).text).toBe('There is no run.');
  const launched = await call(client, 'run_project', { project, devices, confirm: '4 phones' });
  expect(launched.text.match(/ started run /g)).toHaveLength(4);
});

describe('hostile input', () => {
  const post = (body: string, headers: Record<string, string> = {}) =>
    fetch(`${service.url}/mcp`, {
      method: 'POST',
      body,
      headers: {
        authorization: `Bearer ${adminToken}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
    });
  const listing = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });

  test('is answered and costs nobody else anything', async () => {
    const client = await connect();
    for (const body of ['', '{', '[]', 'null', '{"jsonrpc":"2.0"}', `[${'['.repeat(5000)}`, '"x"'])
      expect((await post(body)).status).toBeGreaterThanOrEqual(400);
    for (const args of [
      { device: '../../..' },
      { device: 7 },
      { device, steps: [] },
      {},
      { device, steps: 'x'.repeat(5000) },
    ])
      expect(
        await call(client, 'act', args).then(
          ({ isError }) => isError,
          () => true,
        ),
      ).toBe(true);
    expect((await call(client, 'read_project', { project: '..' })).isError).toBe(true);
    await expect(client.callTool({ name: 'constructor', arguments: {} })).rejects.toThrow();
    expect((await call(client, 'list_devices')).isError).toBe(false);
  });

  test('without a token, or from a page of another address, is refused', async () => {
    const none = await fetch(`${service.url}/mcp`, { method: 'POST', body: listing });
    expect([none.status, none.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining('Bearer'),
    ]);
    expect((await post(listing, { authorization: 'Bearer nonsense' })).status).toBe(401);
    expect((await post(listing, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await post(listing, { origin: service.url })).status).toBe(200);
    const read = await fetch(`${service.url}/mcp`, { headers: { authorization: `Bearer ${adminToken}` } });
    expect(read.status).toBe(405);
  });
});

test('phalanx mcp install prints what programs need, and writes it beside what is there', async () => {
  const printed = await service.run(['mcp', 'install']);
  expect(printed).toMatchObject({ code: 0, stdout: expect.stringContaining('.cursor/mcp.json') });
  expect(await service.run(['mcp', 'install', 'claude-code'])).toMatchObject({ code: 0 });
  expect(await service.run(['mcp', 'install', 'claude-code'])).toMatchObject({ code: 0 });
  const file = path.join(service.folder, '.mcp.json');
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
    mcpServers: { phalanx: { type: 'stdio', command: 'phalanx', args: ['mcp'] } },
  });
});
