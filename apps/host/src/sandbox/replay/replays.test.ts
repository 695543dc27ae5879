import type { ReplayVerdict, ScreenTree, UiNode } from '@phalanx/protocol';
import { beforeAll, describe, expect, test } from 'vitest';

import { openReplays, type Replays } from './replays.ts';

let replays: Replays;
beforeAll(async () => {
  replays = await openReplays();
});

function node(values: Partial<UiNode>, ...children: UiNode[]): UiNode {
  return {
    className: 'android.widget.FrameLayout',
    packageName: 'com.shop',
    viewId: null,
    text: null,
    description: null,
    hintText: null,
    tooltipText: null,
    paneTitle: null,
    containerTitle: null,
    index: 0,
    boundsInScreen: { left: 0, top: 0, right: 1080, bottom: 2400 },
    maxTextLength: -1,
    inputType: '',
    isShowingHintText: false,
    checkable: false,
    checked: false,
    clickable: false,
    enabled: true,
    focusable: false,
    focused: false,
    longClickable: false,
    password: false,
    scrollable: false,
    selected: false,
    visible: true,
    ...values,
    children,
  };
}

const button = (id: string, text: string): UiNode =>
  node({
    className: 'android.widget.Button',
    viewId: `com.shop:id/${id}`,
    text,
    clickable: true,
    boundsInScreen: { left: 100, top: 200, right: 500, bottom: 300 },
  });

const treeOf = (...children: UiNode[]): ScreenTree => ({
  root: node({}, ...children),
  packageName: 'com.shop',
  rotation: 0,
  capturedAt: 1_750_000_000_000,
  source: 'uiautomator2',
});

const cart = treeOf(button('pay', 'Pay now'));
const done = treeOf(node({ text: 'Thank you' }));
const other = treeOf(button('rate', 'Rate us'));

interface Shown {
  tree: ScreenTree;
  stage?: string;
}

async function replay(
  code: string,
  screens: readonly Shown[],
  mode: 'strict' | 'stream' = 'strict',
): Promise<(ReplayVerdict | undefined)[]> {
  const given = { code, sourceMap: null, arguments: { automationParameters: {}, jobVariables: {} } };
  const saved = screens.map(({ tree, stage }) => ({ treeJson: JSON.stringify(tree), stage }));
  return (await replays.replay(given, saved, { mode })).map((one) => one?.verdict);
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
    ['an end', `stopCurrentAutomation(); await agent.actions.back()`, { kind: 'ended', did: [] }],
    ['what only a phone can tell', `await agent.apps.list()`, { kind: 'cannot' }],
    ['taps without end', `for (;;) await agent.actions.tap(1, 1)`, { kind: 'acts_blind' }],
    ['a loop without end', `for (;;);`, { kind: 'limit' }],
    ['a loop of promises without end', `for (;;) await null`, { kind: 'limit' }],
    ['a clock that never comes to an end', `for (;;) await agent.actions.sleep(600_000)`, { kind: 'limit' }],
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
