import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';

import { TestProject } from '../projects/testing/test-projects.ts';
import type { ApiCaller, ApiReply } from '../../testing/api-caller.ts';
import { TestServer } from '../../testing/test-server.ts';

let server: TestServer;
let api: ApiCaller;
let project: TestProject;

beforeAll(async () => {
  server = await TestServer.start();
  ({ api } = await server.createCaller('ann'));
});
afterAll(() => server.dispose());
beforeEach(async () => {
  project = await TestProject.create(api);
  await project.put('lib/pay.ts', "import { n } from '../n.ts';\nexport const pay = (): number => n;\n");
  await project.put('n.ts', 'export const n = 1;\n');
  await project.put('main.ts', "import { pay } from './lib/pay';\npay();\n");
});

const rename = (from: string, to: string): Promise<ApiReply> =>
  api('POST', `/api/v2/automation/rename/${project.id}`, { body: { path: from, new_path: to } });

it('renames a file with what was compiled of it, and with the imports that name it', async () => {
  const { status, body } = await rename('lib/pay.ts', 'shop.ts');
  expect([status, body]).toEqual([
    200,
    { success: true, etag: await project.etag(), changed: ['main.ts'], warnings: [] },
  ]);
  expect(await project.content('main.ts')).toContain("from './shop';");
  expect(await project.content('shop.ts')).toContain("from './n.ts';");
  expect(await project.content('shop.js')).toContain('pay');
  expect(await project.content('lib/pay.ts')).toBeUndefined();
  expect(await project.content('lib/pay.js')).toBeUndefined();
});

it('keeps other files as they are, to the byte', async () => {
  await project.put('data.csv', 'a;b');
  expect((await rename('data.csv', 'data/all.csv')).body).toMatchObject({ success: true, changed: [] });
  expect(await project.content('data/all.csv')).toBe('a;b');
});

it.each([
  ['missing.ts', 'other.ts', 404, 'file_not_found'],
  ['n.ts', 'main.ts', 400, 'invalid_path'],
  ['n.js', 'm.js', 400, 'compiled_file'],
  ['n.ts', '../n.ts', 400, 'invalid_path'],
  ['n.ts', 'main.ts/n.ts', 400, 'invalid_path'],
  ['main.ts', 'n.tsx', 400, 'source_conflict'],
])('changes nothing for %s to %s', async (from, to, status, code) => {
  const before = await project.etag();
  const reply = await rename(from, to);
  expect([reply.status, reply.body['code']]).toEqual([status, code]);
  expect(await project.etag()).toBe(before);
});
