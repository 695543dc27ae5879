import type { RecordedCall, ReplaySequence, ReplayVerdict, ScreenTree, UiNode } from '@phalanx/protocol';
import { beforeAll, describe, expect, test } from 'vitest';

import { nodeOf } from '../../testing/node-of.ts';
import { openReplays, type Replays } from './replays.ts';

let replays: Replays;
/** Replays with short limits, for code that never ends and uses its full limits. */
let hurried: Replays;
beforeAll(async () => {
  replays = await openReplays();
  const tries = { first: { entryMs: 50, totalMs: 100 }, second: { entryMs: 100, totalMs: 200 } };
  hurried = await openReplays({ limits: { screen: tries, sequence: tries } });
});

const button = (id: string, text: string): UiNode =>
  nodeOf({
    className: 'android.widget.Button',
    viewId: `com.shop:id/${id}`,
    text,
    clickable: true,
    boundsInScreen: { left: 100, top: 200, right: 500, bottom: 300 },
  });

const treeOf = (...children: UiNode[]): ScreenTree => ({
  root: nodeOf({}, ...children),
  packageName: 'com.shop',
  rotation: 0,
  capturedAt: 1_750_000_000_000,
  source: 'uiautomator2',
});

const cart = treeOf(button('pay', 'Pay now'));
const done = treeOf(nodeOf({ text: 'Thank you' }));
const other = treeOf(button('rate', 'Rate us'));

interface Shown {
  tree: ScreenTree;
  stage?: string;
}

async function replay(
  code: string,
  screens: readonly Shown[],
  mode: 'strict' | 'stream' = 'strict',
  by = replays,
): Promise<(ReplayVerdict | undefined)[]> {
  const given = { code, sourceMap: null, arguments: { automationParameters: {}, jobVariables: {} } };
  const saved = screens.map(({ tree, stage }) => ({ treeJson: JSON.stringify(tree), stage }));
  return (await by.replay(given, saved, { mode })).map((one) => one?.verdict);
}

const shop = `
const result = await runStages({
  states: { Cart: { id: 'pay' }, Done: 'Thank you' },
  stages: [
    { name: 'buy', reached: 'Done', on: { Cart: (screen) => screen.findById('pay').tap() } },
    { name: 'leave', reached: 'Cart', on: { Done: () => agent.actions.back() } },
  ],
});`;

describe('what a project takes a saved screen for', () => {
  test('is the state that it stores, and what it does then, at the stage that the screen was stored under', async () => {
    const shown = [
      { tree: cart, stage: 'buy' },
      { tree: done },
      { tree: other },
      { tree: cart, stage: 'leave' },
    ];
    const state = { kind: 'state', message: null, did: [] };
    expect(await replay(shop, shown)).toEqual([
      { ...state, state: 'Cart', stage: 'buy', next: 'acts', did: ['input.tap on Button #pay "Pay now"'] },
      { ...state, state: 'Done', stage: 'leave', next: 'acts', did: ['navigate.back'] },
      { ...state, state: 'unknown', stage: 'buy', next: 'waits' },
      { ...state, state: 'Cart', stage: 'leave', next: 'arrives' },
    ]);
  });

  test('is the same when one run is shown all screens', async () => {
    const shown = Array.from({ length: 120 }, (_, index) => ({
      tree: [cart, done, other][index % 3] ?? cart,
    }));
    const [strict, stream] = [await replay(shop, shown), await replay(shop, shown, 'stream')];
    const told = stream.flatMap((verdict, index) => (verdict === undefined ? [] : [{ verdict, index }]));
    expect(told.length).toBeGreaterThan(100);
    for (const { verdict, index } of told) expect(verdict).toEqual(strict[index]);
  });

  test.for<[name: string, code: string, verdict: object]>([
    [
      'a loop of its own',
      `for (;;) {
         const screen = await agent.actions.screenContent();
         await agent.utils.outOfSteps.storeScreen(screen, 'buy', screen.findById('pay') ? 'Cart' : 'Unknown', 5, ScreenshotRecord.NONE);
         await (await agent.actions.waitForId('pay')).tap();
       }`,
      { kind: 'state', state: 'Cart', next: 'acts' },
    ],
    [
      'a wait in vain, in 30 seconds that take none',
      `await agent.actions.tap(5, 5); await agent.actions.waitForText('Pay later');`,
      {
        kind: 'waits',
        message: expect.stringMatching(/^Waited 3\d\.\d s for .*"Pay later"[^]*Nearest.*"Pay now"/),
        did: [expect.stringContaining('input.tap')],
      },
    ],
    ['an error', `throw new TypeError('broken')`, { kind: 'threw', message: 'TypeError: broken', line: 1 }],
    [
      'a rejection that nothing handles',
      `void Promise.reject(new Error('left')); await agent.actions.sleep(5)`,
      { kind: 'threw', message: 'Error: left' },
    ],
    [
      'code that is no script',
      `let a = ;`,
      { kind: 'threw', message: expect.stringContaining('SyntaxError') },
    ],
    [
      'what logs errors, and uses the newest of the language',
      `console.log(new Error('seen'), new Map([[{}, new Float16Array(1)]]));
       const kept = structuredClone([new SuppressedError(new Error('a'), new Error('b')), new Float16Array([1])]);
       const state = [Error.isError(kept[0]), kept[1].constructor.name, await Promise.try(() => 2)].join(' ');
       await agent.utils.outOfSteps.storeScreen(await agent.actions.screenContent(), 's', state, 1, 'none');`,
      { kind: 'state', state: 'true Float16Array 2' },
    ],
    ['an end', `stopCurrentAutomation(); await agent.actions.back()`, { kind: 'ended', did: [] }],
    ['what only a phone can tell', `await agent.apps.list()`, { kind: 'cannot' }],
    ['taps without end', `for (;;) await agent.actions.tap(1, 1)`, { kind: 'acts_blind' }],
    [
      'more memory than there is',
      `const all = []; for (;;) all.push(new Array(100_000).fill(1))`,
      { kind: 'limit' },
    ],
    [
      'no network',
      `await fetch('https://example.com')`,
      { kind: 'threw', message: expect.stringContaining('no network') },
    ],
    [
      'an action that fails',
      `const screen = await agent.actions.screenContent(); await agent.utils.outOfSteps.storeScreen(screen, 's', 'Cart', 1, 'none'); await agent.apps.list()`,
      { kind: 'state', next: 'throws' },
    ],
  ])('%s', async ([, code, verdict]) => {
    expect(await replay(code, [{ tree: cart }, { tree: cart }])).toEqual([
      expect.objectContaining(verdict),
      expect.objectContaining(verdict),
    ]);
  });

  test.for<[name: string, code: string]>([
    ['a loop without end', `for (;;);`],
    ['a loop of promises without end', `for (;;) await null`],
    ['a clock that never comes to an end', `for (;;) await agent.actions.sleep(600_000)`],
  ])('%s is over its limit', async ([, code]) => {
    const verdicts = await replay(code, [{ tree: cart }, { tree: cart }], 'strict', hurried);
    expect(verdicts).toMatchObject([{ kind: 'limit' }, { kind: 'limit' }]);
  });

  test('does not depend on when, where and how often', async () => {
    const code = `
      const { screenWidth } = await agent.info.device();
      const parts = [Date.now(), new Date().getHours(), Date(), Math.random(), crypto.randomUUID(), performance.now(), screenWidth];
      await agent.utils.outOfSteps.storeScreen(await agent.actions.screenContent(), 's', parts.join(' '), 1, 'none');`;
    const [first, second] = await replay(code, [{ tree: cart }, { tree: cart }]);
    expect(first).toEqual(second);
    expect(first).toMatchObject({
      state: expect.stringMatching(/^1750000000000 15 Sun Jun 15 2025 .* 1080$/),
    });
  });
});

test('requests get the answers that the project gives, and no others', async () => {
  const code = `
    const { code } = await (await fetch('https://shop.example/codes/7?a=b')).json();
    const error = await fetch('https://shop.example/other').catch((reason) => reason);
    const state = code + ' ' + error.constructor.name;
    await agent.utils.outOfSteps.storeScreen(await agent.actions.screenContent(), 's', state, 1, 'none');`;
  const fetches = [{ url: 'https://shop.example/codes/*', body: { code: 'größer' } }];
  const given = { code, sourceMap: null, arguments: { automationParameters: {}, jobVariables: {} }, fetches };
  const [told] = await replays.replay(given, [{ treeJson: JSON.stringify(cart) }], { mode: 'strict' });
  expect(told?.verdict).toMatchObject({ state: 'größer TypeError' });
});

test('a process that dies costs only the screen that it died over', async () => {
  const code = `
    const screen = await agent.actions.screenContent();
    if (screen.findById('rate')) 'x'.repeat(2 ** 29 - 24).split('');
    await agent.utils.outOfSteps.storeScreen(screen, 's', 'Known', 1, 'none');`;
  const verdicts = await replay(code, [{ tree: cart }, { tree: other }, { tree: done }]);
  expect(verdicts).toMatchObject([{ state: 'Known' }, { kind: 'limit' }, { state: 'Known' }]);
});

describe('a record in order', () => {
  const at = (tree: ScreenTree, seconds: number): ScreenTree => ({
    ...tree,
    capturedAt: tree.capturedAt + 1000 * seconds,
  });
  const tapPay: RecordedCall = { name: 'input.tap', x: 300, y: 250 };
  const screen = (
    state: string,
    tree: ScreenTree,
    { stage = 'buy', calls = [] }: { stage?: string; calls?: RecordedCall[] } = {},
  ) => ({ state, stage, calls, treeJson: JSON.stringify(tree) });
  const taps = (count: number): string => `
    let taps = 0;
    await runStages({
      states: { Cart: { id: 'pay' }, Done: 'Thank you', Rate: { id: 'rate' } },
      maxUnknownLooks: 1,
      maxSteps: 10,
      stages: [{
        name: 'buy', reached: 'Never', on: {
          Cart: (screen) => (taps++ < ${count} ? screen.findById('pay').tap() : agent.actions.back()),
          Rate: async (screen) => {
            await agent.actions.screenContent();
            await screen.findById('rate').tap();
          },
        },
      }],
    });`;
  /** Two taps on the cart, back, a dialog, and unknown screens until the code gives up. */
  const saved: ReplaySequence = {
    ends: 'submits',
    screens: [
      screen('Cart', cart, { calls: [tapPay] }),
      screen('Cart', at(cart, 2), { calls: [tapPay] }),
      screen('Cart', at(cart, 4), { calls: [{ name: 'navigate.back' }] }),
      screen('Rate', at(other, 5), { calls: [tapPay] }),
      screen('Done', at(done, 9)),
      screen('unknown', at(treeOf(), 12)),
      screen('unknown', at(treeOf(), 15)),
    ],
  };
  const follow = (code: string, sequence: ReplaySequence = saved, by = replays) =>
    by.follow({ code, sourceMap: null, arguments: { automationParameters: {}, jobVariables: {} } }, sequence);

  test('is the same with the code of its run, whether the record tells the calls or not', async () => {
    expect(await follow(taps(2))).toEqual({ kind: 'same', screens: 7 });
    const untold = saved.screens.map((one) => ({ ...one, calls: [] }));
    expect(await follow(taps(2), { ...saved, screens: untold })).toEqual({ kind: 'same', screens: 7 });
  });

  test('diverges where the code takes a screen for something else, or does something else with it', async () => {
    expect(await follow(taps(2).replace("id: 'rate' }", "id: 'rating' }"))).toMatchObject({
      kind: 'diverges',
      index: 3,
      in: 'screen',
      saved: { state: 'Rate', calls: ['input.tap on Button #rate "Rate us"'] },
      now: { state: 'unknown', stage: 'buy' },
    });
    expect(await follow(taps(3))).toMatchObject({
      kind: 'diverges',
      index: 2,
      in: 'calls',
      saved: { state: 'Cart', calls: ['navigate.back'] },
      now: { calls: ['input.tap on Button #pay "Pay now"'] },
    });
    expect(
      await follow(taps(2).replace("screen.findById('rate').tap()", 'agent.actions.sleep(1)')),
    ).toMatchObject({
      kind: 'diverges',
      index: 3,
      in: 'calls',
      now: { calls: [] },
    });
    expect(await follow(taps(2).replace('maxUnknownLooks: 1', 'maxUnknownLooks: 3'))).toMatchObject({
      kind: 'diverges',
      index: 6,
      in: 'end',
      saved: { ends: 'submits' },
      now: { ends: null },
    });
  });

  test('tells where the code throws, waits in vain, ends or arrives before the record does', async () => {
    const onRate = (does: string): string => taps(2).replace("screen.findById('rate').tap()", does);
    expect(await follow(onRate('screen.missing.x'))).toMatchObject({
      kind: 'threw',
      index: 3,
      message: expect.stringContaining('TypeError'),
      line: expect.any(Number),
    });
    expect(await follow(onRate("agent.actions.waitForText('Nowhere')"))).toMatchObject({
      kind: 'waits',
      index: expect.any(Number),
      message: expect.stringContaining('"Nowhere"'),
    });
    expect(await follow(onRate('stopCurrentAutomation()'))).toEqual({ kind: 'ended', index: 3, how: 'ends' });
    expect(await follow(taps(2).replace("'Never'", "'Rate'"))).toMatchObject({
      kind: 'ended',
      how: 'arrives',
    });
    expect(await follow(taps(2).replace('maxSteps: 10', 'maxSteps: 2'))).toMatchObject({
      kind: 'ended',
      index: 2,
      how: 'submits',
    });
  });

  test('has the clock of the run, so that a time limit comes where it came', async () => {
    const late = saved.screens.map((one, index) => ({
      ...one,
      treeJson: one.treeJson.replace(
        /"capturedAt":\d+/,
        `"capturedAt":${1_750_000_000_000 + index * 60_000}`,
      ),
    }));
    const limited = taps(2).replace("name: 'buy',", "name: 'buy', timeLimitMs: 150_000,");
    expect(await follow(limited, { ...saved, screens: late })).toMatchObject({
      kind: 'ended',
      how: 'submits',
    });
    expect(await follow(limited)).toMatchObject({ kind: 'same' });
  });

  test('leaves calls on password fields out, as records do', async () => {
    const field = nodeOf({
      className: 'android.widget.EditText',
      viewId: 'com.shop:id/secret',
      password: true,
      clickable: true,
      boundsInScreen: { left: 0, top: 0, right: 500, bottom: 100 },
    });
    const code = `await runStages({
      states: { Login: { id: 'secret' }, Done: 'Thank you' },
      stages: [{ name: 'in', reached: 'Done', on: { Login: async (screen) => {
        await screen.findById('secret').writeText('hunter2');
        await screen.findById('pay').tap();
      } } }],
    });`;
    const screens = [
      screen('Login', treeOf(field, button('pay', 'Pay now')), { stage: 'in', calls: [tapPay] }),
      screen('Done', at(done, 3), { stage: 'in' }),
    ];
    expect(await follow(code, { screens, ends: null })).toEqual({ kind: 'same', screens: 2 });
  });

  test.for<[name: string, code: string]>([
    ['a loop without end', 'for (;;);'],
    ['a loop of promises', 'for (;;) await null'],
    ['a clock that never ends', 'for (;;) await agent.actions.sleep(600_000)'],
    ['taps without end', 'for (;;) await agent.actions.tap(1, 1)'],
    ['more memory than there is', 'const all = []; for (;;) all.push(new Array(100_000).fill(1))'],
    ['the end of its process', `'x'.repeat(2 ** 29 - 24).split('');`],
  ])('costs hostile code only itself: %s', async ([, code]) => {
    expect(await follow(code, saved, hurried)).toMatchObject({ kind: 'limit' });
    expect(await follow(taps(2))).toMatchObject({ kind: 'same' });
  });

  test('of trees that are none costs nothing else', async () => {
    for (const treeJson of ['{}', '[]', 'x', '{"root":{"children":[null]},"capturedAt":"x"}'])
      expect(
        (await follow(taps(2), { ends: null, screens: [{ ...screen('Cart', cart), treeJson }] })).kind,
      ).toMatch(/limit|threw|diverges|waits/);
    expect(await follow(taps(2))).toMatchObject({ kind: 'same' });
  });
});
