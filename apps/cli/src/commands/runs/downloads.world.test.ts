import { once } from 'node:events';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { TestService } from '../../testing/test-service.ts';

let service: TestService;
beforeAll(async () => {
  service = await TestService.start(1);
});
afterAll(() => service.stop());

const at = (...names: string[]): string => path.join(service.folder, ...names);

async function newestRun(): Promise<string> {
  const { stdout } = await service.run(['runs', '--limit', '1', '--json']);
  return JSON.parse(stdout).runs[0].run_id;
}

test('the files of a run are listed and downloaded, and replace others only when they are told to', async () => {
  const code = `
    await agent.run.attach('größe.csv', 'a,b\\n');
    await agent.run.attach('large.bin', new Uint8Array(2_000_000).fill(65));`;
  await writeFile(at('attach.ts'), code);
  expect((await service.run(['exec', 'attach.ts', '--device', 'SIM0001', '--follow'])).code).toBe(0);
  const run = await newestRun();
  const listed = await service.run(['runs', 'files', run.slice(-12)]);
  expect(listed.stdout).toMatch(/^größe\.csv +4 +text\/csv +[0-9a-f]{16}$/m);
  expect(listed.stdout).toMatch(/^large\.bin +2000000 +application\/octet-stream /m);

  await mkdir(at('out'));
  await writeFile(at('elsewhere'), 'as it was');
  await symlink(at('elsewhere'), at('out', 'größe.csv'));
  const refused = await service.run(['runs', 'files', run, '--download', 'out']);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--force') });
  const done = await service.run(['runs', 'files', run, '--download', 'out', '--force']);
  expect(done).toMatchObject({ code: 0, stdout: 'out/größe.csv\nout/large.bin\n' });
  expect((await readdir(at('out'))).toSorted()).toEqual(['größe.csv', 'large.bin']);
  expect(await readFile(at('out', 'größe.csv'), 'utf8')).toBe('a,b\n');
  expect(await readFile(at('elsewhere'), 'utf8')).toBe('as it was');
  expect(await readFile(at('out', 'large.bin'), 'utf8')).toBe('A'.repeat(2_000_000));

  await writeFile(at('none.ts'), 'console.log(1);');
  await service.run(['exec', 'none.ts', '--device', 'SIM0001', '--follow']);
  expect((await service.run(['runs', 'files', await newestRun()])).stdout).toMatch(/no files/);
});

test('the film of a run is listed and downloaded', async () => {
  await writeFile(at('filmed.ts'), "await agent.actions.launchApp('com.android.settings');");
  await service.run(['exec', 'filmed.ts', '--device', 'SIM0001', '--film', '--follow']);
  const run = await newestRun();
  expect((await service.run(['runs', 'film', run])).stdout).toMatch(/^1 +0\.0 s .*540 x 1200 +\d+$/m);
  const done = await service.run(['runs', 'film', run, '--download', 'film']);
  expect(done).toMatchObject({ code: 0, stdout: expect.stringMatching(/^film\/0001\.jpg\n/) });
  expect((await readFile(at('film', '0001.jpg'))).subarray(0, 2).toString('hex')).toBe('ffd8');
  const again = await service.run(['runs', 'film', run, '--download', 'film']);
  expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('--force') });
});

test.each(['../evil', '/tmp/evil', 'a/../../evil', '..', '.bashrc', 'a\u0000b', 'con'])(
  'a server that names a file %j writes nothing',
  async (name) => {
    const file = { name, size_bytes: 1, sha256: 'x', content_type: 'a/b', created_at: 0 };
    const server = createServer((_, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ success: true, files: [file] }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const run = crypto.randomUUID();
    const url = ['--server-url', `http://127.0.0.1:${port}`];
    const result = await service.run(['runs', 'files', run, '--download', 'lied', ...url]);
    server.close();
    expect(result).toMatchObject({ code: 3, stderr: expect.stringContaining('was not written') });
    expect(await readdir(at('lied'))).toEqual([]);
  },
);

test('a file that does not arrive whole gets no name', async () => {
  const file = { name: 'a', size_bytes: 1, sha256: 'x', content_type: 'a/b', created_at: 0 };
  const server = createServer(({ url }, response) => {
    response.end(url?.endsWith('/a') ? 'other' : JSON.stringify({ success: true, files: [file] }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const url = ['--server-url', `http://127.0.0.1:${port}`];
  const result = await service.run(['runs', 'files', crypto.randomUUID(), '--download', 'half', ...url]);
  server.close();
  expect(result).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('differs from the attached file'),
  });
  expect(await readdir(at('half'))).toEqual([]);
});
