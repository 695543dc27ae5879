import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { AgentBridge } from './agent-parts.ts';
import { createOutOfSteps, toUiNode } from './out-of-steps.ts';
import { anyTree, screenOf, uiNode } from './testing/screens.ts';
import { rememberTree } from './nodes/tree-ids.ts';

/** Host that knows the trees with these IDs. */
function createHost(knownTrees: readonly number[] = []) {
  const calls: [name: string, params: unknown][] = [];
  const bridge = {
    async call(name: string, params: { treeId?: number }) {
      calls.push([name, params]);
      if (name === 'record.submit') return { success: true, id: 'record-1' };
      return params.treeId === undefined || knownTrees.includes(params.treeId) ? 'stored' : 'tree_unknown';
    },
  };
  const readScreen = async (): Promise<AndroidNode> =>
    rememberTree(screenOf(uiNode({ text: 'now' })), { treeId: 1 });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only these calls are made here
  return { calls, ...createOutOfSteps(bridge as unknown as AgentBridge, readScreen) };
}

const order = { stage: 'login', screenState: 'Login', remainingSteps: 50, screenshot: 'low_quality' };
const tree = uiNode({ text: 'a', children: [uiNode({ text: 'b' })] });

describe('storing a screen', () => {
  it('names a tree that the host has', async () => {
    const { calls, outOfSteps } = createHost([7]);
    await outOfSteps.storeScreen(
      rememberTree(screenOf(tree), { treeId: 7 }),
      'login',
      'Login',
      50,
      'low_quality',
    );
    expect(calls).toEqual([['record.screen', { ...order, treeId: 7 }]]);
  });

  it('sends a tree that the host no longer has', async () => {
    const { calls, outOfSteps } = createHost([]);
    await outOfSteps.storeScreen(
      rememberTree(screenOf(tree), { treeId: 7 }),
      'login',
      'Login',
      50,
      'low_quality',
    );
    expect(calls).toEqual([
      ['record.screen', { ...order, treeId: 7 }],
      ['record.screen', { ...order, root: tree }],
    ]);
  });

  it('stores the whole tree of a node within it', async () => {
    const { calls, outOfSteps } = createHost([]);
    const [child] = screenOf(tree).children;
    if (child === undefined) throw new Error('no child');
    await outOfSteps.storeScreen(child, 'login', 'Login', 50, 'low_quality');
    expect(calls).toEqual([['record.screen', { ...order, root: tree }]]);
  });

  it('goes without a tree that is too large to be sent', async () => {
    const { calls, outOfSteps } = createHost([]);
    const huge = screenOf(uiNode({ text: 'x'.repeat(500_000) }));
    await outOfSteps.storeScreen(huge, 'login', 'Login', 50, 'low_quality');
    expect(calls).toEqual([['record.screen', order]]);
  });

  it.each([
    [-3, 0],
    [2.9, 2],
    [Infinity, Number.MAX_SAFE_INTEGER],
  ])('counts %d remaining steps as %d', async (given, counted) => {
    const { calls, outOfSteps } = createHost();
    await outOfSteps.storeScreen(screenOf(tree), 's', 'x'.repeat(600), given, 'none');
    expect(calls[0]?.[1]).toMatchObject({ remainingSteps: counted, screenState: 'x'.repeat(500) });
  });

  it.each<[unknown[], string]>([
    [[null, 's', 't', 1, 'none'], 'screen must be a node'],
    [[{}, 's', 't', 1, 'none'], 'screen must be a node'],
    [[screenOf(tree), 5, 't', 1, 'none'], 'stage must be a string, but it is number'],
    [[screenOf(tree), 's', null, 1, 'none'], 'screenState must be a string, but it is null'],
    [[screenOf(tree), 's', 't', '1', 'none'], 'remainingSteps must be a number'],
    [[screenOf(tree), 's', 't', 1, 'best'], 'screenshotRecord must be a member of ScreenshotRecord'],
    [[screenOf(tree), 's', 't', 1], 'screenshotRecord must be a member of ScreenshotRecord'],
  ])('refuses what does not fit: %#', async (args, message) => {
    const { outOfSteps } = createHost();
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- wrong on purpose
    await expect(
      outOfSteps.storeScreen(...(args as Parameters<typeof outOfSteps.storeScreen>)),
    ).rejects.toThrow(message);
  });
});

describe('a debug record', () => {
  it('stores the present screen and submits it under its tag', async () => {
    const { calls, debug } = createHost([1]);
    expect(await debug('checkout')).toEqual({ success: true, id: 'record-1' });
    expect(calls).toMatchObject([
      ['record.screen', { treeId: 1, screenshot: 'low_quality' }],
      ['record.submit', { type: 'debug', tag: 'checkout' }],
    ]);
  });
});

describe('a node on its way back to the host', () => {
  it('gives back what a node was made of', () => {
    fc.assert(
      fc.property(anyTree, (node) => {
        expect(toUiNode(screenOf(node))).toEqual(node);
      }),
    );
  });
});
