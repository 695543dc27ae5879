import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { groupRoutes } from '@phalanx/protocol';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { madeScreen, ReplayScene } from '../../../testing/records/replay-scene.ts';
import { stringAt } from '../../../testing/string-at.ts';
import { adminToken } from '../../../testing/test-server.ts';

const run = promisify(execFile);
let scene: ReplayScene;

beforeAll(async () => {
  scene = await ReplayScene.start();
});
afterAll(() => scene.dispose());
afterEach(() => scene.cutReplayHosts());
beforeEach(async () => {
  await scene.createProject();
});

const read = async (id: string) =>
  (await scene.server.api('GET', groupRoutes.get.path.replace(':id', id))).body;
const becomes = (id: string, expected: object): Promise<unknown> =>
  expect.poll(async () => (await read(id))['group'], { timeout: 60_000 }).toMatchObject(expected);

describe('a commit that says "Solves"', () => {
  it('marks the group in that commit, and its replay proves it or does not', async () => {
    await scene.connectReplayHost();
    const [good, bad] = [await scene.meet(madeScreen(1)), await scene.meet(madeScreen(2))];
    const stays = await scene.commit('console.log("unknown"); //', `No fix\n\nSolves ${bad}`);
    await becomes(bad, { status: 'solved', solved_in: stays, proved: 'no' });
    const fix = await scene.commit('console.log("Cart");', `The fix\n\nSolves: ${good.toUpperCase()}\n`);
    await becomes(good, { status: 'solved', solved_in: fix, proved: 'yes', records: expect.any(Number) });
    expect((await read(good))['newest_verdict']).toMatchObject({
      commit: fix,
      cause: 'commit',
      screens: 1,
      known: 1,
      handled: 1,
      not_told: 0,
    });
    const undone = await scene.server.api('POST', groupRoutes.undo.path.replace(':id', good));
    expect(undone.body['group']).toMatchObject({ status: 'open', solved_in: null, proved: null });
  });

  it('marks nothing for a caller who may not review, and no group of another project', async () => {
    const group = await scene.meet(madeScreen(1));
    const token = { name: 'editor', scopes: ['read', 'edit'] };
    const made = await scene.server.api('POST', '/api/v2/tokens', { body: token });
    expect(made.status, made.text).toBe(201);
    await scene.save('main.ts', 'console.log("Cart");');
    const commit = (message: string, of = scene.projectId, authorization?: string) =>
      scene.server.api('POST', `/api/v2/automation/commit/${of}`, {
        body: { message },
        ...(authorization === undefined ? {} : { token: authorization }),
      });
    const byEditor = await commit(`Solves ${group}`, undefined, stringAt(made.body, 'secret'));
    expect([byEditor.status, byEditor.body['solves']]).toEqual([201, undefined]);
    await scene.createProject();
    await scene.save('main.ts', 'console.log("Cart");');
    expect((await commit(`Solves ${group}`)).body['solves']).toBeUndefined();
    expect((await read(group))['group']).toMatchObject({ status: 'open' });
  });

  it('does the same when it is pushed, for each of its commits', async () => {
    const group = await scene.meet(madeScreen(1));
    const folder = await mkdtemp(path.join(tmpdir(), 'phalanx-solves-'));
    const url = new URL(`/git/${scene.projectId}.git`, scene.server.url);
    Object.assign(url, { username: 'any', password: adminToken });
    const git = async (...args: string[]): Promise<string> => {
      const who = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
      const { stdout, stderr } = await run('git', [...who, ...args], { cwd: folder });
      return stdout + stderr;
    };
    await git('clone', '-q', url.href, '.');
    await writeFile(path.join(folder, 'main.ts'), 'console.log("Cart");');
    await git('commit', '-qam', `The fix\n\nSolves ${group}`);
    const fix = (await git('rev-parse', 'HEAD')).trim();
    await writeFile(path.join(folder, 'more.txt'), 'more');
    await git('add', '.');
    await git('commit', '-qm', 'More');
    expect(await git('push', 'origin', 'HEAD:main')).toContain(`${fix.slice(0, 7)} solves group ${group}.`);
    await becomes(group, { status: 'solved', solved_in: fix, proved: null });
    await rm(folder, { recursive: true });
  });
});
