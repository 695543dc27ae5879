import type { UiNode } from '@phalanx/protocol';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

const text = Type.Union([Type.String(), Type.Null()]);

/** Fields that are read from a node. */
const Node = Compile(
  Type.Object({
    className: text,
    viewId: text,
    text,
    description: text,
    hintText: text,
    packageName: Type.String(),
    password: Type.Boolean(),
    clickable: Type.Boolean(),
    scrollable: Type.Boolean(),
    selected: Type.Boolean(),
    visible: Type.Boolean(),
    children: Type.Array(Type.Unknown()),
  }),
);
const Tree = Compile(Type.Object({ root: Type.Unknown(), packageName: Type.String({ maxLength: 255 }) }));

/**
 * Whether the node and all its descendants have the form of an app's tree. Throws a `RangeError` when the tree is too
 * deep.
 */
const isNode = (value: unknown): value is UiNode =>
  Node.Check(value) && value.children.every((child) => isNode(child));

/** Reads the fields of a stored tree that prints use. Throws or returns undefined when the tree has another form. */
export function readTree(bytes: Uint8Array): { root: UiNode; packageName: string } | undefined {
  const tree: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  if (!Tree.Check(tree) || !isNode(tree.root)) return undefined;
  const { root, packageName } = tree;
  return { root, packageName };
}
