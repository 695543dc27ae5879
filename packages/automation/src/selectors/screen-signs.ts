import { nodesBelow } from '../agent/nodes/node-search.ts';
import { comparedText } from '../texts/seen-text.ts';
import { isChangingText } from './changing-text.ts';
import { quote } from './conditions.ts';
import { mayBeLossy } from './lossy-text.ts';

export { mayBeLossy } from './lossy-text.ts';

/** Condition on a screen as data, which can be written as code or tested by the runtime's own matcher. */
export type SignCondition =
  | { readonly by: 'id' | 'absent'; readonly id: string }
  /** Text of a node; several are the same label in several languages. */
  | { readonly by: 'text'; readonly texts: readonly string[] }
  | { readonly by: 'package'; readonly packageName: string }
  /** Selected tab or menu entry. */
  | { readonly by: 'selected'; readonly id: string };

export interface PossibleSign {
  readonly condition: SignCondition;
  /** Cost; the lower, the more stable the sign. */
  readonly cost: number;
  /** Whether the sign is too common to stand alone, such as the package or an ID of Android's own dialogs. */
  readonly isCommon: boolean;
}

/** IDs that every app with the toolkit has. */
export const toolkitIds: ReadonlySet<string> = new Set(
  `content root container main_content toolbar title subtitle icon summary text1 text2 list recycler_view button1 button2
  button3 buttonPanel parentPanel topPanel contentPanel customPanel alertTitle message scrollView custom`.split(
    /\s+/,
  ),
);

const systemBars = /(^|:id\/)(navigationBar|statusBar)Background$/;
const maxTextLength = 40;
/** Maximum length of an ID, because apps choose any length. */
const maxNameLength = 200;
const maxTexts = 4;
const costs = { id: 10, toolkit: 30, opaque: 60, package: 5, text: 40, selected: 20, absent: 60 };

/** Whether an ID is obfuscated: short, without a word, and different in each version of the app. */
export function isOpaqueId(viewId: string): boolean {
  const name = nameOf(viewId);
  if (name === '0_resource_name_obfuscated') return true;
  return /^(?!(?:ok|no|go|up)$)(?:[a-z]{1,2}\d*|[b-df-hj-np-tv-xz\d]{3,4})$/i.test(name);
}

const nameOf = (viewId: string): string => viewId.split(':id/').at(-1) ?? viewId;

function idOf({ viewId = '' }: AndroidNode): string | undefined {
  const name = nameOf(viewId);
  return name === '' || viewId.length > maxNameLength ? undefined : writtenId(viewId);
}

/** Returns the ID as written in code: without the app's package, which may differ. Android's own IDs keep theirs. */
const writtenId = (viewId: string): string => (viewId.startsWith('android:') ? viewId : nameOf(viewId));

/** Returns signs that all of the screens have, the most stable first. */
export function listSigns(screens: readonly AndroidNode[], maxCount: number): PossibleSign[] {
  const [first, ...others] = screens.map(readScreen);
  if (first === undefined) return [];
  const signs = [
    ...idSigns(first, others, 'ids'),
    ...idSigns(first, others, 'selected'),
    ...textSigns(first, others),
    ...packageSigns(first, others),
  ];
  return signs.toSorted((one, other) => one.cost - other.cost).slice(0, maxCount);
}

/** Returns conditions for the absence of signs that other screens have. */
export const absentSigns = (signs: readonly PossibleSign[]): PossibleSign[] =>
  signs.flatMap(({ condition, cost }) =>
    condition.by === 'id'
      ? [
          {
            condition: { by: 'absent', id: condition.id },
            cost: cost + costs.absent,
            isCommon: true,
          } as const,
        ]
      : [],
  );

interface ReadScreen {
  packageName: string;
  ids: Set<string>;
  selected: Set<string>;
  /** Labels by comparable text, with their spelling on this screen and their cost. */
  texts: Map<string, { label: string; cost: number }>;
  /** Texts by the position of their nodes, to match labels of other languages. */
  textAt: Map<string, string>;
}

function readScreen(root: AndroidNode): ReadScreen {
  const read: ReadScreen = {
    packageName: root.packageName,
    ids: new Set(),
    selected: new Set(),
    texts: new Map(),
    textAt: new Map(),
  };
  const places = new Map<string, number>();
  for (const node of nodesBelow(root)) {
    if (!node.isVisible || systemBars.test(node.viewId ?? '')) continue;
    const id = idOf(node);
    if (id !== undefined) read.ids.add(id);
    if (id !== undefined && node.isSelected) read.selected.add(id);
    readLabel(node, { id, read, places });
  }
  return read;
}

function readLabel(
  node: AndroidNode,
  { id, read, places }: { id: string | undefined; read: ReadScreen; places: Map<string, number> },
): void {
  const kind = id ?? node.className ?? '';
  const number = (places.get(kind) ?? 0) + 1;
  places.set(kind, number);
  const label = labelOf(node);
  if (label === undefined) return;
  const compared = comparedText(label);
  const cost = Math.min(costOfText(node, label), read.texts.get(compared)?.cost ?? Infinity);
  read.texts.set(compared, { label: read.texts.get(compared)?.label ?? label, cost });
  read.textAt.set(`${kind} ${number}`, label);
}

/** Returns a text that the app shows on every phone: not typed, and not a number, amount, state or address. */
function labelOf(node: AndroidNode): string | undefined {
  if (node.isPassword || /(EditText|AutoCompleteTextView)$/.test(node.className ?? '')) return undefined;
  const label = node.text === undefined || node.text === '' ? node.description : node.text;
  if (label === undefined || label !== label.trim() || label.length < 2 || label.length > maxTextLength)
    return undefined;
  const isData = /\d{2,}|https?:|@|\p{Cc}/u.test(label) || !/\p{L}/u.test(label) || isChangingText(label);
  return isData || mayBeLossy(label) ? undefined : label;
}

/** Returns the cost of a text: titles identify a screen, and button texts change less than other texts. */
const costOfText = (node: AndroidNode, label: string): number =>
  costs.text +
  label.length / 4 -
  (/title$/i.test(node.viewId ?? '') ? 10 : 0) -
  (node.clickable || node.className?.endsWith('Button') === true ? 5 : 0);

function idSigns(first: ReadScreen, others: readonly ReadScreen[], of: 'ids' | 'selected'): PossibleSign[] {
  const shared = [...first[of]].filter((id) => others.every((one) => one[of].has(id)));
  return shared.map((id) => {
    const isCommon = id.startsWith('android:') || toolkitIds.has(id);
    const cost = isOpaqueId(id) ? costs.opaque : isCommon ? costs.toolkit : costs.id;
    return of === 'ids'
      ? { condition: { by: 'id', id }, cost, isCommon }
      : { condition: { by: 'selected', id }, cost: cost + costs.selected, isCommon: false };
  });
}

function textSigns(first: ReadScreen, others: readonly ReadScreen[]): PossibleSign[] {
  const shared = [...first.texts].filter(([compared]) => others.every(({ texts }) => texts.has(compared)));
  const signs: PossibleSign[] = shared.map(([, { label, cost }]) => ({
    condition: { by: 'text', texts: [label] },
    cost,
    isCommon: false,
  }));
  const known = new Set(shared.map(([compared]) => compared));
  for (const [place, text] of first.textAt) {
    if (known.has(comparedText(text))) continue;
    const texts = [...new Set([text, ...others.map(({ textAt }) => textAt.get(place) ?? '')])];
    if (texts.includes('') || texts.length < 2 || texts.length > maxTexts) continue;
    const cost = (first.texts.get(comparedText(text))?.cost ?? costs.text) + 5 * (texts.length - 1);
    signs.push({ condition: { by: 'text', texts: texts.toSorted() }, cost, isCommon: false });
  }
  return signs;
}

function packageSigns({ packageName }: ReadScreen, others: readonly ReadScreen[]): PossibleSign[] {
  const isShared = others.every((one) => one.packageName === packageName);
  if (!isShared || packageName.length > maxNameLength) return [];
  return [{ condition: { by: 'package', packageName }, cost: costs.package, isCommon: true }];
}

/** Converts a condition to a sign for `testOf`. */
export function toScreenSign(condition: SignCondition): ScreenSign {
  if (condition.by === 'id') return { id: condition.id };
  if (condition.by === 'package') return { packageName: condition.packageName };
  if (condition.by === 'absent') return (screen) => screen.findById(condition.id) === null;
  if (condition.by === 'text') {
    const [only = ''] = condition.texts;
    return condition.texts.length === 1 ? only : new RegExp(anyOf(condition.texts), 'u');
  }
  return (screen) => screen.filterOne((f) => f.isSelected().hasId(condition.id)) !== null;
}

const anyOf = (texts: readonly string[]): string =>
  `^(?:${texts.map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)).join('|')})$`;

const writeText = (texts: readonly string[]): string =>
  texts.length === 1 ? quote(texts[0] ?? '') : `/${anyOf(texts)}/u`;

/** Writes an entry of `states`, or the `when` of a dialog: `{ id: 'pay', text: 'Pay' }`. */
export function writeSign(conditions: readonly SignCondition[]): string {
  const [only] = conditions;
  if (only?.by === 'text' && conditions.length === 1) return writeText(only.texts);
  const fields = new Map(conditions.flatMap((one) => writeField(one) ?? []));
  if (fields.size < conditions.length) return `(screen) => ${writeSignTest(conditions, 'screen')}`;
  return `{ ${[...fields].map(([name, value]) => `${name}: ${value}`).join(', ')} }`;
}

function writeField(condition: SignCondition): [[string, string]] | undefined {
  if (condition.by === 'id') return [['id', quote(condition.id)]];
  if (condition.by === 'text') return [['text', writeText(condition.texts)]];
  return condition.by === 'package' ? [['packageName', quote(condition.packageName)]] : undefined;
}

/** Writes the condition of an `if`: `screen.findById('pay') && screen.findTextOne('Pay')`. */
export const writeSignTest = (conditions: readonly SignCondition[], screen: string): string =>
  conditions.map((condition) => writeTest(condition, screen)).join(' && ');

function writeTest(condition: SignCondition, screen: string): string {
  if (condition.by === 'id') return `${screen}.findById(${quote(condition.id)})`;
  if (condition.by === 'absent') return `!${screen}.findById(${quote(condition.id)})`;
  if (condition.by === 'package') return `${screen}.packageName === ${quote(condition.packageName)}`;
  if (condition.by === 'text') return `${screen}.findTextOne(${writeText(condition.texts)})`;
  return `${screen}.filterOne((f) => f.isSelected().hasId(${quote(condition.id)}))`;
}

const dismissing =
  /later|cancel|close|dismiss|skip|deny|not.?now|negative|no.?thanks|^no$|später|abbrechen|schließen/i;
const dialogButtons = ['android:id/button2', 'android:id/button3', 'android:id/button1'];

/** Returns the button that most likely closes a dialog without changing anything: `screen.findById('later')`. */
export function findButton(screens: readonly AndroidNode[]): SignCondition | undefined {
  const [first, ...others] = screens.map(readButtons);
  if (first === undefined) return undefined;
  const shared = first.filter(({ name }) =>
    others.every((one) => one.some((button) => button.name === name)),
  );
  const byRank = dialogButtons.map((id) => shared.find(({ name }) => name === id));
  const found =
    shared.find(({ name, label }) => dismissing.test(name) || dismissing.test(label)) ??
    byRank.find((button) => button !== undefined) ??
    (shared.length === 1 ? shared[0] : undefined);
  if (found === undefined) return undefined;
  return found.hasId ? { by: 'id', id: found.name } : { by: 'text', texts: [found.name] };
}

function readButtons(root: AndroidNode): { name: string; label: string; hasId: boolean }[] {
  return nodesBelow(root).flatMap((node) => {
    const isButton = node.isVisible && node.clickable && /(Button|TextView)$/.test(node.className ?? '');
    const label = labelOf(node) ?? '';
    const id = idOf(node) ?? '';
    return isButton && (id !== '' || label !== '')
      ? [{ name: id === '' ? label : id, label, hasId: id !== '' }]
      : [];
  });
}
