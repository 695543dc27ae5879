import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { goldenText, groupRoutes, type HostQuestionOf } from '@phalanx/protocol';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { EventReader } from '../../testing/event-reader.ts';
import { madeScreen, ReplayScene, verdictOf } from '../../testing/records/replay-scene.ts';
import { adminToken } from '../../testing/test-server.ts';
import { Receiver } from '../../work/webhooks/testing/receiver.ts';

let scene: ReplayScene;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'phalanx-replays-'));
  scene = await ReplayScene.start({
    PHALANX_WEBHOOK_NETWORKS: '127.0.0.2/32',
    PHALANX_SECRETS_KEY_FILE: path.join(folder, 'secrets.key'),
  });
});
afterAll(async () => {
  await scene.dispose();
  await rm(folder, { recursive: true, force: true });
});
afterEach(() => scene.cutReplayHosts());
beforeEach(async () => {
  await scene.createProject();
});

/** Resolves when the newest replay matches. */
const newest = (expected: object): Promise<unknown> =>
  expect.poll(async () => (await scene.list())[0], { timeout: 60_000 }).toMatchObject(expected);

const done = { status: 'done', problem: '' };

describe('new code of a project', () => {
  it('is replayed when it is committed: on all groups and golden screens, against the commits before', async () => {
    await scene.connectReplayHost();
    const solved = await scene.meet(madeScreen(1));
    await scene.meet(madeScreen(2));
    await scene.server.api('PATCH', `${groupRoutes.list.path}/${solved}`, { body: { status: 'solved' } });
    await scene.save(
      'screens/Cart/one.json',
      goldenText({ expect: { state: 'Cart' }, from: {}, tree: madeScreen(3) }),
    );
    const before = await scene.commit('console.log("unknown"); //');
    await newest({
      ...done,
      cause: 'commit',
      commit: before,
      set: 'all',
      counts: { screens: 3, replayed: 3, known: 0, recognised: 0, broken: 1 },
    });
    await scene.save('main.ts', 'console.log("Basket");');
    await newest({
      ...done,
      cause: 'save',
      commit: null,
      set: 'open',
      counts: { screens: 1, recognised: 1 },
    });
    // The preceding save does not hide the effect of the commit.
    const after = await scene.commit('console.log("Cart");');
    await newest({
      ...done,
      cause: 'commit',
      commit: after,
      counts: { screens: 3, known: 3, recognised: 3, broken: 0 },
    });
    const shown = JSON.stringify(await scene.list());
    expect(shown.split(after)).toHaveLength(2);
  });

  it('is told of by webhooks when its commit was replayed, and not when it was saved', async () => {
    const receiver = await Receiver.start();
    const events = ['replay.finished'];
    const body = { url: receiver.url, events, project_ids: [scene.projectId] };
    expect((await scene.server.api('POST', '/api/v2/webhooks', { body })).status).toBe(201);
    await scene.connectReplayHost();
    await scene.meet(madeScreen(1));
    const commit = await scene.commit('console.log("Cart");');
    await scene.untilReplaysEnded();
    await expect.poll(() => receiver.about('commit', commit).length, { timeout: 20_000 }).toBe(1);
    expect(receiver.about('commit', commit)[0]?.body.data).toMatchObject({
      automation_id: scene.projectId,
      cause: 'commit',
      ...done,
      screens: 1,
      known: 1,
      recognised: 1,
      broken: 0,
      not_told: 0,
    });
    expect(receiver.about('cause', 'save')).toEqual([]);
    await receiver.close();
  });

  it('is replayed by the newest save only, and those who may review are told', async () => {
    const asked: HostQuestionOf<'replay'>[] = [];
    let isHeld = true;
    await scene.connectReplayHost((question) => {
      asked.push(question);
      return question.screens.map(() => (isHeld ? null : verdictOf(question.code)));
    });
    await scene.meet(madeScreen(1));
    const events = await EventReader.open(`${scene.server.url}/api/v2/events?types=replay`, adminToken);
    await scene.save('main.ts', 'console.log("One");');
    await expect.poll(() => asked.length, { timeout: 20_000 }).toBeGreaterThan(0);
    const saved = scene.save('main.ts', 'console.log("Two");');
    const told = events.waitFor(({ data }) =>
      /"cause":"save".*"status":"done".*"recognised":1/.test(JSON.stringify(data)),
    );
    await saved;
    isHeld = false;
    await newest({ ...done, cause: 'save', counts: { recognised: 1 } });
    expect((await scene.list())[1]).toMatchObject({ cause: 'save', status: 'stopped' });
    await told;
    events.close();
    expect(asked.at(-1)?.code).toContain('Two');
  });

  it('waits some time for a host, says so, and holds up neither saves nor commits', async () => {
    const host = await scene.connectReplayHost();
    await scene.meet(madeScreen(1));
    // A commit waits for the one before it.
    await scene.untilReplaysEnded();
    await host.cut();
    const commit = await scene.commit('console.log("Cart");');
    await newest({
      cause: 'commit',
      commit,
      status: 'waiting',
      problem: expect.stringContaining('phalanx host'),
    });
    await scene.connectReplayHost();
    scene.server.clock.advance(10_000);
    await newest({ ...done, commit, counts: { recognised: 1 } });

    await scene.cutReplayHosts();
    await scene.save('main.ts', 'console.log("Later");');
    await newest({ cause: 'save', status: 'waiting', problem: expect.stringContaining('phalanx host') });
    scene.server.clock.advance(150_000);
    await newest({ cause: 'save', status: 'failed', problem: expect.stringContaining('phalanx host') });
  });

  it('is replayed once by several servers, and anew when the server that was at it has gone', async () => {
    // A commit waits for the one before it.
    await newest({ ...done, cause: 'commit' });
    let answers = 0;
    await scene.connectReplayHost(({ screens }) => screens.map(() => null));
    await scene.meet(madeScreen(1));
    const commit = await scene.commit('console.log("Cart");');
    await newest({ commit, status: 'running' });
    await scene.server.restart();
    await scene.connectReplayHost(({ code, screens }) => {
      answers += 1;
      return screens.map(() => verdictOf(code));
    });
    scene.server.clock.advance(60_000);
    await newest({ ...done, commit, counts: { replayed: 1, recognised: 1 } });
    expect(answers).toBe(1);
    expect((await scene.list()).filter((one) => JSON.stringify(one).includes(commit))).toHaveLength(1);
  });
});
