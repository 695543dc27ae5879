import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { type CliOptions, runCli } from '../../../testing/cli-process.ts';
import { TestService } from '../../../testing/test-service.ts';
import type { Finding } from './finding.ts';

let service: TestService;
let folder: string;

beforeAll(async () => {
  service = await TestService.start(0);
  folder = await mkdtemp(join(tmpdir(), 'phalanx-doctor-'));
});

afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

async function examine(args: readonly string[], options?: CliOptions) {
  const given = [
    '--data-dir',
    join(folder, 'data'),
    '--listen',
    '127.0.0.1:0',
    '--adb-server',
    'off',
    ...args,
  ];
  const { code, stdout, stderr } = await runCli(['doctor', '--json', ...given], options);
  const findings: Finding[] = JSON.parse(stdout);
  const find = (part: string): Finding | undefined => findings.find((one) => one.part === part);
  return { code, stderr, find };
}

it('a machine that lacks nothing passes, and nothing is written', async () => {
  const { code, find } = await examine([]);
  expect(code).toBe(0);
  for (const part of ['Node', 'git', 'data folder', 'address', 'confinement'])
    expect(find(part)).toMatchObject({ part, state: 'ok' });
  expect(find('data folder')?.text).toContain('created at the first start');
  expect((await examine([])).find('data folder')?.text).toContain('created at the first start');
});

it('a program that has the port is told from Phalanx', async () => {
  const other = createServer((socket) => socket.end('HTTP/1.1 404 Not Found\r\n\r\n'));
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = other.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const taken = await examine(['--listen', `127.0.0.1:${port}`]);
  expect(taken.code).toBe(1);
  expect(taken.find('address')).toMatchObject({
    state: 'problem',
    text: expect.stringContaining('taken by another program'),
  });
  other.close();
  const own = await examine(['--listen', new URL(service.url).host]);
  expect(own.find('address')).toMatchObject({ state: 'ok', text: `Phalanx runs at ${service.url}.` });
});

it('programs that are not installed are named with how to install them', async () => {
  const { code, find, stderr } = await examine(['--adb-server', '127.0.0.1:9'], { env: { PATH: folder } });
  expect(code).toBe(1);
  expect(find('git')).toMatchObject({
    state: 'problem',
    text: expect.stringContaining('sudo apt install git'),
  });
  expect(find('adb')).toMatchObject({
    state: 'problem',
    text: expect.stringContaining('sudo apt install adb'),
  });
  expect(stderr).toContain('2 problems have to be fixed.');
});

it('a login that a server does not know is told as one that is wrong', async () => {
  const env = { PHALANX_SERVER_URL: service.url, PHALANX_TOKEN: 'not-a-token' };
  const { code, find } = await examine([], { env });
  expect(code).toBe(1);
  expect(find('login')).toMatchObject({ state: 'problem' });
});

it('a folder that cannot be made is a problem', async () => {
  const { find } = await examine(['--data-dir', '/proc/nope']);
  expect(find('data folder')).toMatchObject({
    state: 'problem',
    text: expect.stringContaining('/proc/nope'),
  });
});
