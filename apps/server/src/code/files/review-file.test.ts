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
  await project.put('n.ts', 'export const amount = 1;\n');
});
afterAll(() => server.dispose());

const ask = (what: string, content: string, more: object = {}, as = api): Promise<ApiReply> =>
  as('POST', `/api/v2/automation/${what}/${project.id}`, { body: { path: 'main.ts', content, ...more } });
const code = "import { amount } from './n.ts';\namount.";

it('a text that is not saved is checked, and the checker helps to write it', async () => {
  const before = await project.etag();
  const checked = await ask('check', `${code}nothing;`);
  expect(checked.body).toMatchObject({ errors: [expect.stringMatching(/^main\.ts\(2,8\): error TS2339/)] });
  const { body } = await ask('symbol', `${code}toFixed();`, { position: code.indexOf('amount.') });
  expect(body['symbol']).toMatchObject({ name: 'amount', type: '1', signatures: [] });
  const completions = (await ask('completions', code, { position: code.length })).body['completions'];
  expect(completions).toContainEqual(expect.objectContaining({ name: 'toFixed', kind: 'method' }));
  expect(await project.etag()).toBe(before);
});

it('there is no help with text that is no TypeScript, or beyond its end', async () => {
  expect((await ask('symbol', code, { position: 999 })).body['symbol']).toBe(null);
  const asJson = await ask('completions', '{}', { path: 'data.json', position: 1 });
  expect(asJson.body['completions']).toEqual([]);
  expect((await ask('symbol', code, { position: -1 })).status).toBe(400);
});

it('who may not edit the project is not helped', async () => {
  const { api: stranger } = await server.createCaller('eve');
  const replies = await Promise.all(
    ['check', 'symbol', 'completions'].map((what) => ask(what, code, { position: 0 }, stranger)),
  );
  expect(replies.map(({ status }) => status)).toEqual([404, 404, 404]);
});
