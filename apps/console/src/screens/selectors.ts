import { shortClass, shortId } from './screen-tree.ts';

/** A way to find a node in an automation, tried on this screen by the runtime's own matcher. */
export interface Selector {
  readonly kind: 'id' | 'text' | 'description' | 'class and text' | 'inside';
  /** An expression; the screen is called `screen`. */
  readonly code: string;
  /** How many nodes match. */
  readonly count: number;
  /** Whether what the expression gives is this node. */
  readonly isHit: boolean;
}

/** As a string literal of an automation. */
const quote = (text: string): string =>
  `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;

const kindMethods = {
  Button: 'isButton',
  EditText: 'isEditText',
  TextView: 'isTextView',
  ImageView: 'isImage',
  ImageButton: 'isImage',
  CheckBox: 'isCheckBox',
  RadioButton: 'isRadioButton',
  Switch: 'isSwitch',
} as const;

function byId(root: AndroidNode, node: AndroidNode): Selector[] {
  const full = node.viewId;
  const id = shortId(node);
  if (full === undefined || id === undefined) return [];
  const found = root.findAllById(id);
  return [
    { kind: 'id', code: `screen.findById(${quote(id)})`, count: found.length, isHit: found[0] === node },
  ];
}

function byText(
  root: AndroidNode,
  node: AndroidNode,
  text: string | undefined,
  kind: Selector['kind'],
): Selector[] {
  if (text === undefined || text === '') return [];
  const code = `screen.findTextOne(${quote(text)})`;
  return [{ kind, code, count: root.findText(text).length, isHit: root.findTextOne(text) === node }];
}

function byClassAndText(root: AndroidNode, node: AndroidNode): Selector[] {
  const { text, className } = node;
  if (text === undefined || text === '' || className === null) return [];
  const name = shortClass(node);
  const method = Object.entries(kindMethods).find(([known]) => known === name)?.[1];
  const found = root.filterAdvanced((filter) =>
    (method === undefined ? filter.hasClass(name) : filter[method]()).hasText(text),
  );
  const condition = method === undefined ? `hasClass(${quote(name)})` : `${method}()`;
  const code = `screen.filterAdvanced((f) => f.${condition}.hasText(${quote(text)}))[0]`;
  return [{ kind: 'class and text', code, count: found.length, isHit: found[0] === node }];
}

/** Below the nearest ancestor that has an ID of its own. */
function inside(root: AndroidNode, node: AndroidNode): Selector[] {
  const text = node.text ?? node.description;
  const id = shortId(node);
  for (let parent = node.parent; parent !== null; parent = parent.parent) {
    const parentId = shortId(parent);
    if (parentId === undefined || root.findAllById(parentId).length !== 1) continue;
    const start = `screen.findById(${quote(parentId)})`;
    if (id !== undefined) {
      const found = parent.findAllById(id);
      const code = `${start}?.findById(${quote(id)})`;
      return [{ kind: 'inside', code, count: found.length, isHit: found[0] === node }];
    }
    if (text === undefined || text === '') return [];
    const code = `${start}?.findTextOne(${quote(text)})`;
    return [
      { kind: 'inside', code, count: parent.findText(text).length, isHit: parent.findTextOne(text) === node },
    ];
  }
  return [];
}

/** The ways to find the node, those first that find it alone. */
export function selectorsOf(root: AndroidNode, node: AndroidNode): Selector[] {
  const all = [
    ...byId(root, node),
    ...byText(root, node, node.text, 'text'),
    // Both are looked for by the same words.
    ...byText(root, node, node.description === node.text ? undefined : node.description, 'description'),
    ...byClassAndText(root, node),
    ...inside(root, node),
  ];
  const rank = ({ isHit, count }: Selector): number => (isHit ? 0 : 1000) + count;
  return all.toSorted((one, other) => rank(one) - rank(other));
}
