import { printableLine } from './terminal.ts';

const field = (node: object, name: string): unknown =>
  Object.entries(node).find(([key]) => key === name)?.[1];

function text(node: object, name: string): string {
  const value = field(node, name);
  return typeof value === 'string' ? value : '';
}

/** Formats bounds such as `0,66 1080,210`: left, top, right, bottom. */
function place(bounds: unknown): string {
  if (typeof bounds !== 'object' || bounds === null) return '';
  const [left, top, right, bottom] = ['left', 'top', 'right', 'bottom'].map((side) =>
    Number(field(bounds, side)),
  );
  return `${left},${top} ${right},${bottom}`;
}

function describe(node: object): string {
  const parts = [
    text(node, 'className').split('.').at(-1) || 'node',
    text(node, 'viewId') && `#${text(node, 'viewId').split('/').at(-1)}`,
    text(node, 'text') && JSON.stringify(text(node, 'text')),
    text(node, 'description') && `(${text(node, 'description')})`,
    ...['clickable', 'checked', 'focused', 'scrollable', 'password'].filter(
      (name) => field(node, name) === true,
    ),
    field(node, 'enabled') === false && 'disabled',
    place(field(node, 'boundsInScreen')),
  ];
  return printableLine(parts.filter(Boolean).join(' '));
}

function* lines(node: unknown, depth: number): Generator<string> {
  if (typeof node !== 'object' || node === null) return;
  yield `${'  '.repeat(depth)}${describe(node)}`;
  const children = field(node, 'children');
  if (Array.isArray(children)) for (const child of children) yield* lines(child, depth + 1);
}

/** Returns a captured tree as text, one line per node, with the attributes that people look for. */
export function treeText(tree: unknown): string[] {
  const root = typeof tree === 'object' && tree !== null ? field(tree, 'root') : undefined;
  return [...lines(root ?? tree, 0)];
}
