import { describe, expect, it } from 'vitest';
import { toUiNode } from '../driver/tree/parse-tree.ts';
import { checkTree } from './record-tree.ts';

const node = (children: unknown[] = []): Record<string, unknown> => ({
  ...toUiNode('a.b.C', new Map()),
  children,
});

/** Returns a value with this nesting depth, built without recursion. */
function nested(depth: number): unknown {
  let tree: unknown = node();
  for (let level = 1; level < depth; level += 1) tree = node([tree]);
  return tree;
}

describe('the check of a tree from an automation', () => {
  it('copies a tree in its order, and counts it', () => {
    const tree = node([node([{ ...node(), text: 'a' }]), { ...node(), text: 'b' }]);
    expect(checkTree(tree)).toEqual({ root: tree, nodeCount: 4 });
  });

  it('leaves out fields that nodes do not have', () => {
    const evil = JSON.parse('{ "__proto__": { "a": 1 }, "evil": 1 }');
    const checked = checkTree({
      ...node(),
      ...evil,
      boundsInScreen: { left: 0, top: 0, right: 0, bottom: 0, evil: 1 },
    });
    expect(checked).toEqual({ root: node(), nodeCount: 1 });
  });

  it('takes trees as deep and as large as those of phones', () => {
    expect(checkTree(nested(400))?.nodeCount).toBe(400);
    expect(checkTree(node(Array.from({ length: 19_999 }, () => node())))?.nodeCount).toBe(20_000);
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'tree'],
    ['an empty object', {}],
    ['a field of another type', { ...node(), clickable: 'yes' }],
    ['a missing field', { ...node(), index: undefined }],
    ['a child that is none', node([null])],
    ['children that are no array', { ...node(), children: { length: 1 } }],
    ['a very long text', { ...node(), text: 'x'.repeat(100_001) }],
    ['401 levels', nested(401)],
    ['100,000 levels', nested(100_000)],
    ['20,001 nodes', node(Array.from({ length: 20_000 }, () => node()))],
  ])('refuses %s', (_, value) => {
    expect(checkTree(value)).toBeUndefined();
  });
});
