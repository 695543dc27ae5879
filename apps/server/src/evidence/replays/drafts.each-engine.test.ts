import { goldenText, groupRoutes, replayRoutes } from '@phalanx/protocol';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { type ApiReply, createApiCaller } from '../../testing/api-caller.ts';
import { madeScreen as shown, ReplayScene } from '../../testing/records/replay-scene.ts';
import { stringAt } from '../../testing/string-at.ts';
import { openTablesOf } from '../../testing/engines/test-database.ts';

let scene: ReplayScene;

beforeAll(async () => {
  scene = await ReplayScene.start();
});
afterAll(() => scene.dispose());
afterEach(() => scene.cutReplayHosts());
beforeEach(() => scene.createProject());

const knows = (state: string): { path: string; content: string } => ({
  path: 'main.ts',
  content: `console.log("${state}");`,
});

const readFile = (path: string): Promise<ApiReply> =>
  scene.server.api('GET', `/api/v2/automation/file/${scene.projectId}?path=${encodeURIComponent(path)}`);

describe('a replay of a draft', () => {
  it('has the unsaved text laid over the saved files, and saves nothing', async () => {
    const group = await scene.meet(shown(1));
    const replayer = await scene.connectReplayHost();
    await scene.untilReplaysEnded();
    await scene.save('words.ts', 'export const word = "Cart";');
    await scene.save('old.ts', 'export const old = 1;');
    await scene.save(
      'screens/Cart/one.json',
      goldenText({ expect: { state: 'Cart' }, from: {}, tree: shown(2) }),
    );
    const files = [{ path: 'main.ts', content: 'import { word } from "./words.ts"; console.log(word);' }];
    const draft = await scene.replay({ files, deleted: ['old.ts'], set: 'all' });
    expect(draft).toMatchObject({
      status: 'done',
      draft: true,
      commit: null,
      cause: 'request',
      group_id: null,
      counts: { screens: 2, known: 2, handled: 1, recognised: 1, golden: 1, golden_expected: 1 },
    });
    // A replay of the saved code may follow.
    expect(replayer.messages('replay').some(({ code }) => code.includes('"Cart"'))).toBe(true);
    const id = stringAt(draft, 'id');
    expect(await scene.verdictsOf(id, `?group_id=${group}`)).toMatchObject([
      { group_id: group, outcome: 'handled', change: 'recognised', verdict: { state: 'Cart' } },
    ]);
    expect((await readFile('main.ts')).body['content']).toContain('unknown');
    expect((await readFile('old.ts')).status).toBe(200);
  });

  it('is no result of a commit, and no later replay is compared with it', async () => {
    const group = await scene.meet(shown(1));
    await scene.connectReplayHost();
    await scene.untilReplaysEnded();
    const before = await scene.replay({ set: 'all' });
    expect(before).toMatchObject({ draft: false, counts: { known: 0 } });
    const drafted = { files: [knows('Cart')], set: 'all' };
    expect(await scene.replay(drafted)).toMatchObject({ counts: { recognised: 1, broken: 0 } });
    expect(await scene.replay(drafted)).toMatchObject({ counts: { recognised: 1, broken: 0 } });
    expect(await scene.replay({ set: 'all' })).toMatchObject({ counts: { recognised: 0, broken: 0 } });
    const read = await scene.server.api('GET', groupRoutes.get.path.replace(':id', group));
    expect(read.body).toMatchObject({ newest_verdict: { handled: 0 } });
  });

  it('may have the screens of one group only', async () => {
    await scene.connectReplayHost();
    const [one] = [await scene.meet(shown(1)), await scene.meet(shown(2))];
    await scene.server.api('PATCH', `${groupRoutes.list.path}/${one}`, { body: { status: 'solved' } });
    const replayed = await scene.replay({ group_id: one, files: [knows('Cart')] });
    expect(replayed).toMatchObject({ group_id: one, counts: { screens: 1, known: 1, recognised: 1 } });
    expect(await scene.verdictsOf(stringAt(replayed, 'id'))).toMatchObject([{ group_id: one }]);
    const other = await scene.start({ group_id: scene.projectId });
    expect(other).toMatchObject({ status: 404, body: { code: 'group_not_found' } });
  });

  it('is refused with the problems of code that does not compile, and of paths that no file may have', async () => {
    await scene.connectReplayHost();
    await scene.untilReplaysEnded();
    const count = (await scene.list()).length;
    const broken = await scene.start({
      files: [{ path: 'main.ts', content: 'import "./nowhere.ts"; let a = ;' }],
    });
    expect(broken).toMatchObject({
      status: 400,
      body: { code: 'compile_failed', errors: expect.arrayContaining([expect.stringMatching(/^main\.ts/)]) },
    });
    const refused: [body: object, code: string][] = [
      [{ files: [{ path: '../up.ts', content: '' }] }, 'invalid_path'],
      [{ files: [knows('A'), knows('B')] }, 'invalid_path'],
      [{ deleted: ['nowhere.ts'] }, 'file_not_found'],
      [{ files: [{ path: 'tsconfig.json', content: '{' }] }, 'invalid_tsconfig'],
    ];
    for (const [body, code] of refused) expect((await scene.start(body)).body['code']).toBe(code);
    expect(
      (await scene.start({ files: [{ path: 'a.txt', content: 'x'.repeat(4 * 1024 * 1024) }] })).status,
    ).toBe(413);
    expect(await scene.list()).toHaveLength(count);
  });

  it('needs the scope that saving needs', async () => {
    await scene.connectReplayHost();
    const body = { name: 'reviewer', scopes: ['read', 'review'] };
    const made = await scene.server.api('POST', '/api/v2/tokens', { body });
    const reviewer = createApiCaller(scene.server.url, stringAt(made.body, 'secret'));
    expect((await scene.start({ files: [knows('Cart')] }, reviewer)).body['code']).toBe('forbidden');
    expect((await scene.start({}, reviewer)).status).toBe(202);
  });

  it('goes on after its server has gone, and keeps its text no longer than it takes', async () => {
    await scene.connectReplayHost(({ screens }) => screens.map(() => null));
    await scene.meet(shown(1));
    const id = stringAt((await scene.start({ files: [knows('Cart')] })).body['replay'], 'id');
    const other = stringAt((await scene.start({ files: [knows('Cart')] })).body['replay'], 'id');
    await scene.server.api('POST', replayRoutes.stop.path.replace(':id', other));
    await expect
      .poll(async () => (await scene.read(id)).body)
      .toMatchObject({ replay: { status: 'running' } });
    await scene.server.restart();
    await scene.connectReplayHost();
    scene.server.clock.advance(60_000);
    await expect
      .poll(async () => (await scene.read(id)).body, { timeout: 30_000 })
      .toMatchObject({ replay: { status: 'done', draft: true, counts: { known: 1 } } });
    await scene.cutReplayHosts();
    await scene.server.close();
    const tables = await openTablesOf(scene.server.dataDir);
    expect(await tables.selectFrom('replay_draft').selectAll().execute()).toEqual([]);
    await tables.destroy();
    await scene.server.open();
  });
});
