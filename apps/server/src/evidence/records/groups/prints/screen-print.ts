/**
 * Fingerprint of a screen. It stays the same when the screen appears on another phone, with other data, and mostly in
 * another version of the app.
 */
import { createHash } from 'node:crypto';
import { mayBeLossy, toolkitIds } from '@phalanx/automation/screen-signs';
import type { ScreenTree, UiNode } from '@phalanx/protocol';

export interface ScreenPrint {
  packageName: string;
  /** Key of the print. Screens with the same key are the same. */
  key: string;
  /** Roles, IDs and selected elements, with their weights. */
  features: ReadonlyMap<string, number>;
  words: ReadonlyMap<string, number>;
  /** IDs assigned by the app, outside of list items. */
  ids: ReadonlySet<string>;
  isDialog: boolean;
}

const version = 1;
/** Limits of a print, because trees come from untrusted apps. */
const maxNodes = 2000;
const maxDepth = 400;
const maxFeatures = 256;
const maxWordLength = 40;
const itemWeight = 0.34;
const dialogNodes = 14;

const roles: readonly (readonly [RegExp, string])[] = [
  [/(EditText|AutoCompleteTextView)$/, 'Edit'],
  [/RadioButton$/, 'Radio'],
  [/CheckBox$/, 'Check'],
  [/(Switch|SwitchCompat|ToggleButton)$/, 'Switch'],
  [/(ImageButton|ImageView|\.Image)$/, 'Image'],
  [/Button$/, 'Button'],
  [/TextView$/, 'Text'],
  [/(RecyclerView|ListView|GridView)$/, 'List'],
  [/(ViewPager2?|ScrollView)$/, 'Scroll'],
  [/WebView$/, 'Web'],
];

const address = /https?:\/\/\S+|\S+@\S+/g;
const systemBars = /(^|:id\/)(navigationBar|statusBar)Background$/;
const foreignParts = /systemui|inputmethod|keyboard/i;

interface Part {
  role: string;
  id: string | undefined;
  /** Text that users read. */
  label: string;
  isClickable: boolean;
  isPassword: boolean;
  isSelected: boolean;
  children: Part[];
}

export function printOf({ root, packageName }: Pick<ScreenTree, 'root' | 'packageName'>): ScreenPrint {
  const { top, count } = readParts(root, packageName);
  const notes = new Notes();
  const outline = top === undefined ? '' : notes.walk(top, '', false);
  const isDialog =
    count <= dialogNodes || ['alertTitle', 'button1', 'parentPanel'].some((id) => notes.seen.has(id));
  // Without IDs, many screens of an app have the same form, and only their words distinguish them.
  const words = notes.ids.size >= 4 && !isDialog ? [] : [...notes.words.keys()].toSorted();
  const text = JSON.stringify([version, packageName, outline, notes.chosen.toSorted(), words]);
  const key = createHash('sha256').update(text).digest('hex').slice(0, 24);
  return { packageName, key, features: notes.features, words: notes.words, ids: notes.ids, isDialog };
}

/** Reads the visible parts, without wrappers that depend on phone makers and screen sizes. */
function readParts(root: UiNode, packageName: string): { top: Part | undefined; count: number } {
  let [seen, count] = [0, 0];
  const read = (node: UiNode, depth: number): Part | undefined => {
    if (seen >= maxNodes || depth > maxDepth || isForeign(node, packageName)) return undefined;
    seen += 1;
    count += 1;
    const children = node.children.flatMap((child) => read(child, depth + 1) ?? []);
    const part = partOf(node, children);
    if (part.id !== undefined || part.label !== '' || part.isClickable) return part;
    if (children.length > 1 || !['Group', 'View'].includes(part.role)) return part;
    count -= 1;
    return children[0];
  };
  return { top: read(root, 1), count };
}

const isForeign = (node: UiNode, packageName: string): boolean =>
  !node.visible ||
  systemBars.test(node.viewId ?? '') ||
  (node.packageName !== packageName && foreignParts.test(node.packageName));

function partOf(node: UiNode, children: Part[]): Part {
  const role = roles.find(([pattern]) => pattern.test(node.className ?? ''))?.[1];
  const text = role === 'Edit' ? node.hintText : (node.text ?? node.description);
  return {
    role: role ?? (node.scrollable ? 'Scroll' : children.length > 0 ? 'Group' : 'View'),
    id: node.viewId
      ?.split(':id/')
      .at(-1)
      ?.slice(0, 100)
      .replaceAll(/\d{2,}/g, '#'),
    label: node.password ? '' : wordOf(text ?? ''),
    isClickable: node.clickable,
    isPassword: node.password,
    isSelected: node.selected,
    children,
  };
}

/**
 * Normalises a text to a word. Numbers, addresses and dates differ between phones, and longer texts are content. Phones
 * that are read in another way may report some texts differently, and mark a lost character at the end of a text in two
 * ways.
 */
function wordOf(text: string): string {
  if (text.length > maxWordLength * 4 || mayBeLossy(text.replaceAll(address, ''))) return '';
  const word = text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(address, '@')
    .replaceAll(/\d[\d.,:/-]*/g, '#')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replace(/[.?]+$/, '');
  return word.length > maxWordLength || /^[#@\p{P}\p{S}\s]*$/u.test(word) ? '' : word;
}

class Notes {
  readonly features = new Map<string, number>();
  readonly words = new Map<string, number>();
  readonly ids = new Set<string>();
  readonly seen = new Set<string>();
  readonly chosen: string[] = [];

  /** Adds a part and its descendants. Returns its outline, which ignores the number and the order of items. */
  walk(part: Part, parent: string, isInItem: boolean): string {
    const token = tokenOf(part);
    const weight = isInItem ? itemWeight : 1;
    note(this.features, `${parent}>${token}`, weight);
    this.#noteId(part, isInItem);
    this.#noteWord(part, isInItem);
    this.#noteChosen(part);
    const items = itemsOf(part);
    const below = part.children.map((child) => {
      const outline = this.walk(child, token, isInItem || items.has(child));
      return items.has(child) ? '' : outline;
    });
    return `${token}{${[...new Set(below)].toSorted().join('')}}${items.size > 0 ? '*' : ''}`;
  }

  #noteId({ id }: Part, isInItem: boolean): void {
    if (id === undefined) return;
    this.seen.add(id);
    if (toolkitIds.has(id)) return;
    note(this.features, `#${id}`, isInItem ? 2 * itemWeight : 2);
    if (!isInItem && this.ids.size < maxFeatures) this.ids.add(id);
  }

  /** Adds a word. Text with a number is mostly data: it weighs less, and within an item it is left out. */
  #noteWord({ label, isClickable }: Part, isInItem: boolean): void {
    const isData = label.includes('#');
    if (label === '' || (isInItem && isData)) return;
    const weight = isClickable ? 1.5 : 1;
    note(this.words, label, isInItem ? itemWeight / 2 : isData ? weight / 4 : weight);
  }

  /** Adds the selected tab or menu entry, which shows where the user is in the app. */
  #noteChosen({ children }: Part): void {
    const [first, ...others] = children.filter(({ isSelected }) => isSelected);
    if (first === undefined || others.length > 0 || children.length < 2) return;
    const name = first.id ?? first.label;
    if (name === '') return;
    note(this.features, `chosen:${name}`, 4);
    this.chosen.push(name);
  }
}

function note(all: Map<string, number>, name: string, weight: number): void {
  const known = all.get(name);
  if (known === undefined ? all.size < maxFeatures : known < weight) all.set(name, weight);
}

const tokenOf = ({ role, id, isClickable, isPassword }: Part): string =>
  `${role}${id === undefined ? '' : `#${id}`}${isClickable ? '!' : ''}${isPassword ? '*' : ''}`;

/** Finds repeated siblings of the same form. These are items, whatever their parent is. Their number is data. */
function itemsOf({ role, children }: Part): Set<Part> {
  const forms = Map.groupBy(children, (child) => [tokenOf(child), ...child.children.map(tokenOf)].join());
  const minCount = role === 'List' || role === 'Scroll' ? 2 : 3;
  const isItem = (child: Part): boolean => role === 'List' || child.children.length > 0;
  return new Set(
    [...forms.values()].filter(({ length }) => length >= minCount).flatMap((one) => one.filter(isItem)),
  );
}
