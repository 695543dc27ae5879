import { afterAll, beforeAll, expect, it } from 'vitest';

import { TestProject } from '../projects/testing/test-projects.ts';
import type { ApiCaller, ApiReply } from '../../testing/api-caller.ts';
import { TestServer } from '../../testing/test-server.ts';

let server: TestServer;
let api: ApiCaller;
let project: TestProject;

beforeAll(async () => {
  server = await TestServer.start();
  ({ api } = await server.createCaller('ann'));
  project = await TestProject.create(api);
  await project.put('lib/pay.ts', '// one\nexport const Pay = 1;\n');
  await project.put('main.ts', "console.log('pay: -e now');\n");
  await project.put('many.txt', 'pay\n'.repeat(100));
});
afterAll(() => server.dispose());

const search = (text: string): Promise<ApiReply> =>
  api('GET', `/api/v2/automation/search/${project.id}?text=${encodeURIComponent(text)}`);

it('finds lines of the files that are written, in any letter case, and not of what was compiled', async () => {
  const { body } = await search('pay');
  const { matches } = body as { matches: { path: string; line: number; text: string }[] };
  expect(matches.filter(({ path }) => path !== 'many.txt')).toEqual([
    { path: 'lib/pay.ts', line: 2, text: 'export const Pay = 1;' },
    { path: 'main.ts', line: 1, text: "console.log('pay: -e now');" },
  ]);
  expect(matches.filter(({ path }) => path === 'many.txt')).toHaveLength(20);
});

it.each(['-e now', '.*', '--open-files-in-pager=sh', 'nothing has this'])(
  'takes %s for a text, and for nothing else',
  async (text) => {
    const { status, body } = await search(text);
    expect(status).toBe(200);
    expect((body as { matches: unknown[] }).matches).toHaveLength(text === '-e now' ? 1 : 0);
  },
);

it('is for those who may read the project', async () => {
  const { api: other } = await server.createCaller('bob');
  expect(await other('GET', `/api/v2/automation/search/${project.id}?text=pay`)).toMatchObject({
    status: 404,
  });
});
