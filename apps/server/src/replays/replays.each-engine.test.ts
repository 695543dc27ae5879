import {
  goldenText,
  groupRoutes,
  type HostQuestionOf,
  recordRoutes,
  replayRoutes,
  type ReplayVerdict,
  type ScreenTree,
} from '@phalanx/protocol';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import type { ApiReply } from '../testing/api-caller.ts';
import { labelledScreens } from '../testing/labelled-screens.ts';
import { recordReport, screenReport, tell } from '../testing/record-reports.ts';
import { stringAt } from '../testing/string-at.ts';
import { TestHost } from '../testing/test-host.ts';
import { adminToken, TestServer } from '../testing/test-server.ts';

let server: TestServer;
let host: TestHost;
let deviceId: string;

beforeAll(async () => {
  const settings = { PHALANX_RECORDS_KEPT: '1' };
  server = await TestServer.start({ heartbeatMs: 60_000, sweepMs: 50, settings });
  ({ host, deviceId } = await server.connectHost());
});
afterAll(async () => {
  await host.cut();
  await server.dispose();
});

const screens = labelledScreens({ hasIds: true, languages: ['en'], versions: [1], seed: 7 });
const shown = (number: number): ScreenTree => {
  const tree = screens.find(({ label }) => label === `screen ${number}`)?.tree;
  if (tree === undefined) throw new Error('there is no such screen');
  return tree;
};

/** What a host says that takes every screen for what the code has in quotes. */
const verdictOf = (code: string): ReplayVerdict => ({
  ...{ kind: 'state', state: /"(\w+)"/.exec(code)?.[1] ?? 'unknown', stage: 'checkout', next: 'acts' },
  ...{ did: ['tap'], message: null },
});

type Answer = (question: HostQuestionOf<'replay'>) => (ReplayVerdict | null)[] | 'silent';

/** A host without phones that replays. */
async function connectReplayHost(
  answer: Answer = ({ code, screens: asked }) => asked.map(() => verdictOf(code)),
  token = adminToken,
): Promise<TestHost> {
  const replayer = new TestHost({ url: server.url, token, serials: [] });
  replayers.push(replayer);
  await replayer.open();
  replayer.sendHello({ replays: true });
  await replayer.heartbeat();
  const listen = (): void => {
    void replayer.waitFor('replay').then((question) => {
      listen();
      const verdicts = answer(question);
      if (verdicts === 'silent') return;
      const header = JSON.stringify({ type: 'replay', request_id: question.request_id });
      replayer.sendRaw(Buffer.from(`${header}\n${JSON.stringify({ verdicts })}`));
    });
  };
  listen();
  return replayer;
}

const replayers: TestHost[] = [];
afterEach(async () => {
  for (const one of replayers.splice(0)) await one.cut();
});

let projectId: string;
let commits: string[];

const save = async (path: string, content: string): Promise<void> => {
  const body = { path, content };
  const { status, text } = await server.api('PUT', `/api/v2/automation/file/${projectId}`, { body });
  if (status >= 300) throw new Error(text);
};
async function commit(content: string): Promise<string> {
  await save('main.ts', content);
  const body = { message: content };
  const reply = await server.api('POST', `/api/v2/automation/commit/${projectId}`, { body });
  return stringAt(reply.body['commit'], 'hash');
}

beforeEach(async () => {
  projectId = await server.createProject();
  commits = [await commit('console.log("unknown");')];
});

/** A record of a run of the project whose last screen shows this; resolves with its group. The one before it goes. */
async function meet(tree: ScreenTree): Promise<string> {
  const body = { device_ids: [deviceId], automationId: projectId, command: 'start' };
  const launched = await server.api('POST', '/api/v2/devices/launchAutomation', { body });
  if (launched.status !== 200) throw new Error(launched.text);
  const launch = host.messages('launch').findLast((one) => one.automation_id === projectId);
  const runId = launch?.runs[0]?.run_id ?? '';
  const screen = screenReport({ screenshot: null });
  const report = recordReport(runId, { screens: [screen] });
  await tell(host, report);
  const path = recordRoutes.putCapture.path
    .replace(':record_id', report.record_id)
    .replace(':screen_id', screen.screen_id)
    .replace(':kind', 'tree');
  await server.api('PUT', path, { raw: JSON.stringify(tree), contentType: 'application/json' });
  await host.end(runId, 'completed');
  const place = (): Promise<ApiReply> =>
    server.api('GET', groupRoutes.ofRecord.path.replace(':id', report.record_id));
  await expect
    .poll(async () => (await place()).body, { timeout: 20_000 })
    .toMatchObject({ group_id: expect.any(String) });
  return stringAt((await place()).body, 'group_id');
}

const start = (body: object = {}, api = server.api): Promise<ApiReply> =>
  api('POST', replayRoutes.start.path.replace(':id', projectId), { body: { ...body } });
const read = (id: string, api = server.api): Promise<ApiReply> =>
  api('GET', replayRoutes.get.path.replace(':id', id));
const verdictsOf = async (id: string, query = ''): Promise<unknown> =>
  (await server.api('GET', `${replayRoutes.listVerdicts.path.replace(':id', id)}${query}`)).body['verdicts'];

/** Resolves with the replay when it has ended. */
async function replay(body: object = {}): Promise<unknown> {
  const started = await start(body);
  expect(started.status, started.text).toBe(202);
  const id = stringAt(started.body['replay'], 'id');
  await expect
    .poll(async () => (await read(id)).body['replay'], { timeout: 60_000 })
    .toMatchObject({ ended_at: expect.any(Number) });
  return (await read(id)).body['replay'];
}

describe('a replay', () => {
  it('says which screens of open groups the code knows, and keeps them when their records are gone', async () => {
    const replayer = await connectReplayHost();
    const [one, other] = [await meet(shown(1)), await meet(shown(2))];
    const recordsOf = async (group: string): Promise<unknown> =>
      (await server.api('GET', groupRoutes.get.path.replace(':id', group))).body['group'];
    await expect.poll(() => recordsOf(one)).toMatchObject({ records: 0, status: 'open' });
    expect(await recordsOf(other)).toMatchObject({ records: 1 });
    const before = await replay();
    expect(before).toMatchObject({
      ...{ status: 'done', set: 'open', commit: commits[0], problem: '' },
      counts: { screens: 2, replayed: 2, known: 0, recognised: 0, broken: 0, not_told: 0 },
    });
    const seen = replayer
      .messages('replay')
      .at(-1)
      ?.screens.map(({ tree_json: json }) => JSON.parse(json));
    expect(seen).toHaveLength(2);
    expect(seen).toEqual(expect.arrayContaining([shown(1), shown(2)]));

    await save('main.ts', 'console.log("Cart");');
    const after = await replay();
    expect(after).toMatchObject({ commit: null, counts: { known: 2, recognised: 2, broken: 0 } });
    const verdicts = await verdictsOf(stringAt(after, 'id'), '?changed=true');
    expect(verdicts).toMatchObject([
      { kind: 'group', outcome: 'handled', change: 'recognised', verdict: { state: 'Cart' } },
      { kind: 'group', outcome: 'handled', change: 'recognised', verdict: { state: 'Cart' } },
    ]);
    expect(new Set((verdicts as { group_id: string }[]).map(({ group_id: id }) => id))).toEqual(
      new Set([one, other]),
    );

    const old = await replay({ commit: commits[0]?.slice(0, 8) });
    expect(old).toMatchObject({ commit: commits[0], counts: { known: 0, recognised: 0, broken: 2 } });
    const again = await server.api('GET', replayRoutes.list.path.replace(':id', projectId));
    expect((again.body['replays'] as { id: string }[])[0]?.id).toBe(stringAt(old, 'id'));
  });

  it('judges golden screens by what their files expect, and leaves solved groups out of "open"', async () => {
    await connectReplayHost();
    const group = await meet(shown(3));
    await server.api('PATCH', `${groupRoutes.list.path}/${group}`, { body: { status: 'solved' } });
    const golden = (state: string): string => goldenText({ expect: { state }, from: {}, tree: shown(4) });
    await save('screens/Cart/one.json', golden('Cart'));
    await save('screens/Login/one.json', golden('Login'));
    await save('screens/Login/no-json.json', '{');
    await save('screens/Login/deep.json', '['.repeat(5000));
    await save('main.ts', 'console.log("Cart");');
    expect(await replay()).toMatchObject({ counts: { screens: 0 }, status: 'done' });
    const done = await replay({ set: 'all' });
    expect(done).toMatchObject({
      counts: { screens: 5, replayed: 5, known: 2, recognised: 1, broken: 3, not_told: 2 },
    });
    expect(await verdictsOf(stringAt(done, 'id'))).toMatchObject([
      { name: 'screens/Cart/one.json', outcome: 'expected', change: 'unchanged', expected: 'Cart' },
      { name: 'screens/Login/deep.json', verdict: { message: expect.stringContaining('1000 levels') } },
      { name: 'screens/Login/no-json.json', outcome: 'not_told', verdict: { kind: 'cannot' } },
      { name: 'screens/Login/one.json', outcome: 'unexpected', change: 'broken', expected: 'Login' },
      { kind: 'group', group_id: group, change: 'recognised' },
    ]);
  });

  it('goes on at another host when one goes away, and what a host leaves is asked again', async () => {
    let asked = 0;
    const leaving = await connectReplayHost(() => {
      void leaving.cut();
      return 'silent';
    });
    await meet(shown(1));
    await meet(shown(2));
    const started = await start();
    await expect.poll(() => leaving.isOpen, { timeout: 20_000 }).toBe(false);
    await connectReplayHost(({ code, screens: given }) => {
      asked += 1;
      return given.map((_, index) => (index === 0 ? verdictOf(code) : null));
    });
    const id = stringAt(started.body['replay'], 'id');
    await expect
      .poll(async () => (await read(id)).body['replay'], { timeout: 30_000 })
      .toMatchObject({ status: 'done', counts: { replayed: 2 } });
    expect(asked).toBe(2);
  });

  it('can be stopped, and says why code can not be replayed', async () => {
    await connectReplayHost(({ screens: given }) => given.map(() => null));
    await meet(shown(1));
    const id = stringAt((await start()).body['replay'], 'id');
    const stopped = await server.api('POST', replayRoutes.stop.path.replace(':id', id));
    expect(stopped.body).toMatchObject({ replay: { status: 'stopped', ended_at: expect.any(Number) } });
    await save('screens/fetch.json', '{}');
    expect(await replay()).toMatchObject({
      ...{ status: 'failed', problem: expect.stringContaining('screens/fetch.json') },
    });
    expect((await read(id)).body).toMatchObject({ replay: { status: 'stopped' } });
  });

  it('needs a host of somebody who may see the screens, and a caller who may', async () => {
    const stranger = await server.createCaller('stranger');
    expect(await start()).toMatchObject({ status: 503, body: { code: 'no_replay_host' } });
    const theirs = await connectReplayHost(undefined, stranger.token);
    expect((await start()).status).toBe(503);
    await theirs.cut();
    await connectReplayHost();
    expect((await start({}, stranger.api)).body['code']).toBe('project_not_found');
    const { id } = (await replay()) as { id: string };
    expect((await read(id, stranger.api)).body['code']).toBe('replay_not_found');
    expect((await start({ commit: 'abcdef1' })).body['code']).toBe('commit_not_found');
    await server.api('DELETE', `/api/v2/automation-project/${projectId}`);
    expect((await read(id)).body['code']).toBe('replay_not_found');
  });

  it('is begun anew when its server has gone, and has no screens of groups that were deleted', async () => {
    await connectReplayHost(({ screens: given }) => given.map(() => null));
    const [, kept] = [await meet(shown(1)), await meet(shown(2))];
    const id = stringAt((await start()).body['replay'], 'id');
    await expect.poll(async () => (await read(id)).body).toMatchObject({ replay: { status: 'running' } });
    await server.restart();
    await connectReplayHost();
    expect((await read(id)).body).toMatchObject({ replay: { status: 'running', counts: { replayed: 0 } } });
    server.clock.advance(60_000);
    await expect
      .poll(async () => (await read(id)).body)
      .toMatchObject({ replay: { status: 'done', counts: { screens: 2, replayed: 2 } } });

    server.clock.advance(181 * 86_400_000);
    await server.restart();
    await connectReplayHost();
    const last = await replay({ set: 'all' });
    expect(last).toMatchObject({ counts: { screens: 1, replayed: 1 } });
    expect(await verdictsOf(stringAt(last, 'id'))).toMatchObject([{ group_id: kept }]);
    expect(await verdictsOf(id)).toHaveLength(2);
  });
});
