import type { HostQuestionOf, ReplayVerdict, SequenceResult } from '@phalanx/protocol';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { madeScreen as shown, ReplayScene, verdictOf } from '../../testing/records/replay-scene.ts';
import { stringAt } from '../../testing/string-at.ts';

let scene: ReplayScene;
let first: string;

beforeAll(async () => {
  scene = await ReplayScene.start({ PHALANX_RECORDS_KEPT: '10' });
});
afterAll(() => scene.dispose());
afterEach(() => scene.cutReplayHosts());
beforeEach(async () => {
  first = await scene.createProject();
});

const calls = [{ name: 'input.tap', x: 5, y: 7 }];
const twoScreens = [
  { tree: shown(1), next_stage: 'pay', screen_state: 'Cart', calls },
  { tree: shown(2), next_stage: 'pay', screen_state: 'unknown' },
];

/** Answers like a host whose code assigns its quoted state to the first screen. */
function followed({ code, sequence, screens }: HostQuestionOf<'replay'>): SequenceResult | ReplayVerdict[] {
  if (sequence === undefined) return screens.map(() => verdictOf(code));
  const state = /"(\w+)"/.exec(code)?.[1] ?? '';
  const [saved] = sequence.screens;
  if (saved === undefined || saved.state === state) return { kind: 'same', screens: sequence.screens.length };
  const moment = { stage: saved.stage, calls: [], ends: null };
  return {
    kind: 'diverges',
    index: 0,
    in: 'screen',
    saved: { ...moment, state: saved.state },
    now: { ...moment, state },
  };
}

const replay = (recordId: string, more: object = {}): Promise<unknown> =>
  scene.replay({ mode: 'sequence', record_id: recordId, ...more });

describe('a replay of a record in order', () => {
  it('asks a host with all of its screens, what was done on them, and how the run has ended', async () => {
    const replayer = await scene.connectReplayHost(followed);
    await scene.save('main.ts', 'console.log("Cart");');
    const record = await scene.record(twoScreens);
    expect(await replay(record)).toMatchObject({
      status: 'done',
      mode: 'sequence',
      record_id: record,
      draft: false,
      counts: { screens: 2, replayed: 2, broken: 0 },
      sequence: { result: { kind: 'same', screens: 2 }, own_code: null },
    });
    const asked = replayer.messages('replay').findLast(({ sequence }) => sequence !== undefined)?.sequence;
    expect(asked).toMatchObject({
      ends: 'submits',
      screens: [
        { stage: 'pay', state: 'Cart', calls },
        { stage: 'pay', state: 'unknown', calls: [] },
      ],
    });
    expect(asked?.screens.map(({ tree_json: json }) => JSON.parse(json))).toEqual([shown(1), shown(2)]);
    for (const [type, error, ends] of [
      ['crash', null, 'throws'],
      ['timeout', null, 'submits'],
      ['timeout', { code: 'time_limit', message: 'too long', stack: null }, null],
    ] as const) {
      await replay(await scene.record(twoScreens, { type, error }));
      expect(
        replayer.messages('replay').findLast(({ sequence }) => sequence !== undefined)?.sequence?.ends,
      ).toBe(ends);
    }
  });

  it('tells a difference of the new code from a record that its own code does not reproduce either', async () => {
    await scene.connectReplayHost(followed);
    await scene.untilReplaysEnded();
    const unsure = await scene.record(twoScreens);
    const own = await scene.commit('console.log("Cart");');
    const sure = await scene.record(twoScreens);
    await scene.save('main.ts', 'console.log("Basket");');
    const dirty = await scene.record(twoScreens);
    const diverges = {
      kind: 'diverges',
      index: 0,
      in: 'screen',
      saved: { state: 'Cart' },
      now: { state: 'Basket' },
    };
    expect(await replay(sure)).toMatchObject({
      sequence: { result: diverges, own_code: 'same' },
      commit: null,
    });
    expect(await replay(unsure)).toMatchObject({
      sequence: { result: diverges, own_code: 'not_reproducible' },
    });
    expect(await replay(dirty)).toMatchObject({ sequence: { own_code: 'not_known' } });
    expect(await replay(unsure, { commit: first })).toMatchObject({
      sequence: { own_code: 'not_reproducible' },
    });
    expect(await replay(sure, { commit: own })).toMatchObject({
      commit: own,
      sequence: { result: { kind: 'same' } },
    });
    const draft = { files: [{ path: 'main.ts', content: 'console.log("Cart");' }] };
    expect(await replay(sure, draft)).toMatchObject({ draft: true, sequence: { result: { kind: 'same' } } });
    expect(await scene.replay({ set: 'all' })).toMatchObject({ sequence: null, mode: 'screens' });
  });

  it('fails with the reason when a tree is missing, and is refused for what is no record of the project', async () => {
    await scene.connectReplayHost(followed);
    const partial = await scene.record([{ tree: shown(1) }, { tree: null }]);
    expect(await replay(partial)).toMatchObject({
      status: 'failed',
      sequence: null,
      problem: 'The record has no tree of its screen 2.',
    });
    expect(await replay(await scene.record([]))).toMatchObject({ problem: 'The record has no screens.' });
    const record = await scene.record(twoScreens);
    const refused: [body: object, code: string][] = [
      [{ mode: 'sequence' }, 'invalid_request'],
      [{ record_id: record }, 'invalid_request'],
      [{ mode: 'sequence', record_id: record, group_id: record }, 'invalid_request'],
      [{ mode: 'sequence', record_id: scene.projectId }, 'record_not_found'],
    ];
    for (const [body, code] of refused) expect((await scene.start(body)).body['code']).toBe(code);
    await scene.createProject();
    const other = await scene.start({ mode: 'sequence', record_id: record });
    expect(other.body['code']).toBe('record_not_found');
  });

  it('goes on at another host when one goes away', async () => {
    const record = await scene.record(twoScreens);
    await scene.save('main.ts', 'console.log("Cart");');
    const leaving = await scene.connectReplayHost(({ sequence, screens }) => {
      if (sequence === undefined) return screens.map(() => null);
      void leaving.cut();
      return 'silent';
    });
    const started = await scene.start({ mode: 'sequence', record_id: record });
    await expect.poll(() => leaving.isOpen, { timeout: 20_000 }).toBe(false);
    await scene.connectReplayHost(followed);
    const id = stringAt(started.body['replay'], 'id');
    await expect
      .poll(async () => (await scene.read(id)).body['replay'], { timeout: 40_000 })
      .toMatchObject({ status: 'done', sequence: { result: { kind: 'same' } } });
  });
});
