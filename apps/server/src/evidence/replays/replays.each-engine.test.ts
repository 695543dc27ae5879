import { goldenText, groupRoutes, recordRoutes, replayRoutes } from '@phalanx/protocol';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { madeScreen as shown, ReplayScene, verdictOf } from '../../testing/records/replay-scene.ts';
import { stringAt } from '../../testing/string-at.ts';
import type { TestServer } from '../../testing/test-server.ts';

let scene: ReplayScene;
let server: TestServer;
let commits: string[];

beforeAll(async () => {
  scene = await ReplayScene.start();
  ({ server } = scene);
});
afterAll(() => scene.dispose());
afterEach(() => scene.cutReplayHosts());
beforeEach(async () => {
  commits = [await scene.createProject()];
});

describe('a replay', () => {
  it('says which screens of open groups the code knows, and keeps them when their records are gone', async () => {
    const replayer = await scene.connectReplayHost();
    // Waits for the replay of the first commit, which also asks the host.
    await scene.untilReplaysEnded();
    const [one, other] = [await scene.meet(shown(1)), await scene.meet(shown(2))];
    const recordsOf = async (group: string): Promise<unknown> =>
      (await server.api('GET', groupRoutes.get.path.replace(':id', group))).body['group'];
    await expect.poll(() => recordsOf(one)).toMatchObject({ records: 0, status: 'open' });
    expect(await recordsOf(other)).toMatchObject({ records: 1 });
    const before = await scene.replay();
    expect(before).toMatchObject({
      status: 'done',
      set: 'open',
      commit: commits[0],
      problem: '',
      counts: { screens: 2, replayed: 2, known: 0, recognised: 0, broken: 0, not_told: 0 },
    });
    const seen = replayer
      .messages('replay')
      .at(-1)
      ?.screens.map(({ tree_json: json }) => JSON.parse(json));
    expect(seen).toHaveLength(2);
    expect(seen).toEqual(expect.arrayContaining([shown(1), shown(2)]));

    await scene.save('main.ts', 'console.log("Cart");');
    const after = await scene.replay();
    expect(after).toMatchObject({ commit: null, counts: { known: 2, recognised: 2, broken: 0 } });
    const verdicts = await scene.verdictsOf(stringAt(after, 'id'), '?changed=true');
    expect(verdicts).toMatchObject([
      { kind: 'group', outcome: 'handled', change: 'recognised', verdict: { state: 'Cart' } },
      { kind: 'group', outcome: 'handled', change: 'recognised', verdict: { state: 'Cart' } },
    ]);
    expect(new Set((verdicts as { group_id: string }[]).map(({ group_id: id }) => id))).toEqual(
      new Set([one, other]),
    );

    const old = await scene.replay({ commit: commits[0]?.slice(0, 8) });
    expect(old).toMatchObject({ commit: commits[0], counts: { known: 0, recognised: 0, broken: 2 } });
    const again = await server.api('GET', replayRoutes.list.path.replace(':id', scene.projectId));
    expect((again.body['replays'] as { id: string }[])[0]?.id).toBe(stringAt(old, 'id'));
  });

  it('has no screen any more whose record or copy somebody has deleted', async () => {
    const replayer = await scene.connectReplayHost();
    await scene.untilReplaysEnded();
    const gone = await scene.meet(shown(1));
    const group = await scene.meet(shown(2));
    const read = async (id: string) =>
      (await server.api('GET', groupRoutes.get.path.replace(':id', id))).body;
    // Retention has deleted its record but kept the copy.
    await expect
      .poll(() => read(gone))
      .toMatchObject({ group: { records: 0 }, kept_screens: [expect.any(String)] });
    const screen = stringAt((await read(gone))['kept_screens'], '0');
    const place = `/api/v2/groups/${gone}/screens/${screen}`;
    expect((await server.api('DELETE', `/api/v2/groups/${group}/screens/${screen}`)).status).toBe(404);
    expect((await server.api('DELETE', place)).status).toBe(200);
    expect(await read(gone)).toMatchObject({ kept_screens: [] });
    expect((await server.api('DELETE', place)).body).toMatchObject({ code: 'group_screen_not_found' });
    expect(await scene.replay()).toMatchObject({ counts: { screens: 1 } });

    const listed = await server.api('GET', groupRoutes.listRecords.path.replace(':id', group));
    const [record] = listed.body['records'] as { record_id: string; screen: { uiUrl: string } }[];
    const path = recordRoutes.delete.path.replace(':id', record?.record_id ?? '');
    // Several servers share an address, which leads nowhere here.
    const { pathname, search } = new URL(record?.screen.uiUrl ?? '');
    const readTree = (): Promise<Response> => fetch(`${server.url}${pathname}${search}`);
    const other = await server.createCaller('other');
    expect((await other.api('DELETE', path)).status).toBe(403);
    expect((await other.api('DELETE', place)).status).toBe(404);
    expect((await readTree()).status).toBe(200);
    expect((await server.api('DELETE', path)).status).toBe(200);
    expect((await server.api('DELETE', path)).body).toMatchObject({ code: 'record_not_found' });
    expect(await read(group)).toMatchObject({ group: { records: 0, phones: 0 }, kept_screens: [] });
    await expect.poll(async () => (await readTree()).status).toBe(404);
    expect(await scene.replay()).toMatchObject({ counts: { screens: 0 } });
    expect(replayer.messages('replay').at(-1)?.screens).toHaveLength(1);
  });

  it('judges golden screens by what their files expect, and leaves solved groups out of "open"', async () => {
    await scene.connectReplayHost();
    const group = await scene.meet(shown(3));
    await server.api('PATCH', `${groupRoutes.list.path}/${group}`, { body: { status: 'solved' } });
    const golden = (state: string): string => goldenText({ expect: { state }, from: {}, tree: shown(4) });
    await scene.save('screens/Cart/one.json', golden('Cart'));
    await scene.save('screens/Login/one.json', golden('Login'));
    await scene.save('screens/Login/no-json.json', '{');
    await scene.save('screens/Login/deep.json', '['.repeat(5000));
    await scene.save('main.ts', 'console.log("Cart");');
    expect(await scene.replay()).toMatchObject({ counts: { screens: 0 }, status: 'done' });
    const done = await scene.replay({ set: 'all' });
    expect(done).toMatchObject({
      counts: { screens: 5, replayed: 5, known: 2, recognised: 1, broken: 3, not_told: 2 },
    });
    expect(await scene.verdictsOf(stringAt(done, 'id'))).toMatchObject([
      { name: 'screens/Cart/one.json', outcome: 'expected', change: 'unchanged', expected: 'Cart' },
      { name: 'screens/Login/deep.json', verdict: { message: expect.stringContaining('1000 levels') } },
      { name: 'screens/Login/no-json.json', outcome: 'not_told', verdict: { kind: 'cannot' } },
      { name: 'screens/Login/one.json', outcome: 'unexpected', change: 'broken', expected: 'Login' },
      { kind: 'group', group_id: group, change: 'recognised' },
    ]);
  });

  it('goes on at another host when one goes away, and what a host leaves is asked again', async () => {
    await scene.meet(shown(1));
    await scene.meet(shown(2));
    await scene.connectReplayHost();
    await scene.untilReplaysEnded();
    await scene.cutReplayHosts();
    let asked = 0;
    const leaving = await scene.connectReplayHost(() => {
      void leaving.cut();
      return 'silent';
    });
    const started = await scene.start();
    await expect.poll(() => leaving.isOpen, { timeout: 20_000 }).toBe(false);
    await scene.connectReplayHost(({ code, screens: given }) => {
      asked += 1;
      return given.map((_, index) => (index === 0 ? verdictOf(code) : null));
    });
    const id = stringAt(started.body['replay'], 'id');
    await expect
      .poll(async () => (await scene.read(id)).body['replay'], { timeout: 30_000 })
      .toMatchObject({ status: 'done', counts: { replayed: 2 } });
    expect(asked).toBe(2);
  });

  it('can be stopped, and says why code can not be replayed', async () => {
    await scene.connectReplayHost(({ screens: given }) => given.map(() => null));
    await scene.meet(shown(1));
    const id = stringAt((await scene.start()).body['replay'], 'id');
    const stopped = await server.api('POST', replayRoutes.stop.path.replace(':id', id));
    expect(stopped.body).toMatchObject({ replay: { status: 'stopped', ended_at: expect.any(Number) } });
    await scene.save('screens/fetch.json', '{}');
    expect(await scene.replay()).toMatchObject({
      status: 'failed',
      problem: expect.stringContaining('screens/fetch.json'),
    });
    expect((await scene.read(id)).body).toMatchObject({ replay: { status: 'stopped' } });
  });

  it('needs a host of somebody who may see the screens, and a caller who may', async () => {
    const stranger = await server.createCaller('stranger');
    expect(await scene.start()).toMatchObject({ status: 503, body: { code: 'no_replay_host' } });
    const theirs = await scene.connectReplayHost(undefined, stranger.token);
    expect((await scene.start()).status).toBe(503);
    await theirs.cut();
    await scene.connectReplayHost();
    expect((await scene.start({}, stranger.api)).body['code']).toBe('project_not_found');
    const { id } = (await scene.replay()) as { id: string };
    expect((await scene.read(id, stranger.api)).body['code']).toBe('replay_not_found');
    expect((await scene.start({ commit: 'abcdef1' })).body['code']).toBe('commit_not_found');
    await server.api('DELETE', `/api/v2/automation-project/${scene.projectId}`);
    expect((await scene.read(id)).body['code']).toBe('replay_not_found');
  });

  it('is begun anew when its server has gone, and has no screens of groups that were deleted', async () => {
    await scene.connectReplayHost(({ screens: given }) => given.map(() => null));
    const [, kept] = [await scene.meet(shown(1)), await scene.meet(shown(2))];
    const id = stringAt((await scene.start()).body['replay'], 'id');
    await expect
      .poll(async () => (await scene.read(id)).body)
      .toMatchObject({ replay: { status: 'running' } });
    await server.restart();
    await scene.connectReplayHost();
    expect((await scene.read(id)).body).toMatchObject({
      replay: { status: 'running', counts: { replayed: 0 } },
    });
    server.clock.advance(60_000);
    await expect
      .poll(async () => (await scene.read(id)).body)
      .toMatchObject({ replay: { status: 'done', counts: { screens: 2, replayed: 2 } } });

    server.clock.advance(181 * 86_400_000);
    await server.restart();
    await scene.connectReplayHost();
    const last = await scene.replay({ set: 'all' });
    expect(last).toMatchObject({ counts: { screens: 1, replayed: 1 } });
    expect(await scene.verdictsOf(stringAt(last, 'id'))).toMatchObject([{ group_id: kept }]);
    expect(await scene.verdictsOf(id)).toHaveLength(2);
  });
});
