import { afterAll, beforeAll, expect, it } from 'vitest';
import { TestServer } from '../../testing/test-server.ts';
import { problemOfResult, readResult } from './run-result.ts';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.dispose());

const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const nonsense = ['{"bad', '', deep(30_000), `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`];

it('what is no JSON, or deep, is no result, and one that is stored is read as none', () => {
  for (const json of nonsense) {
    expect(problemOfResult(json), json.slice(0, 20)).toBeDefined();
    expect(readResult(json)).toBeNull();
  }
  for (const json of ['{"a":[1,"ä"]}', '"text"', 'null', deep(60)])
    expect(readResult(json)).toEqual(JSON.parse(json));
});

it('a result of a lying host is dropped, its run tells that, and runs and lists stay readable', async () => {
  const { host, deviceId } = await server.connectHost();
  for (const result of nonsense) {
    const { runId } = await server.startRun(host, deviceId);
    host.report(runId, 'completed', { result });
    const run = async () => (await server.api('GET', `/api/v2/runs/${runId}`)).body['run'];
    await expect.poll(run).toMatchObject({
      status: 'failed',
      result: null,
      error: { code: 'result_dropped', message: expect.stringContaining('so it was dropped') },
    });
    expect((await server.api('GET', '/api/v2/runs')).status).toBe(200);
  }
  await host.cut();
});
