/**
 * Golden screens: saved screens in a project's repository, with the verdict that the project's code is expected to
 * give. Each node of the tree has its own line, so that diffs of a file are readable.
 */
import type { ScreenTree, UiNode } from '../phones/phone-answers.ts';
import { maxRecordScreens, type RecordedCall } from '../runs/records.ts';
import type { ReplaySequence, ReplayVerdict } from './replay-messages.ts';
import { maxRecordedCalls } from '../runs/run-limits.ts';

/** Folder of a project's golden screens, `screens/<state>/<name>.json`. */
export const goldenFolder = 'screens';
export const goldenPathPattern = new RegExp(`^${goldenFolder}/(?!runs/)[^/]+/[^/]+\\.json$`);
/** Paths of golden runs. */
export const goldenRunPattern = new RegExp(`^${goldenFolder}/runs/[^/]+\\.json$`);
/** Path of the answers for `fetch` in replays; JSON of `ReplayFetches`. */
export const replayFetchesPath = `${goldenFolder}/fetch.json`;

export const maxGoldenBytes = 1024 * 1024;
export const maxGoldenRunBytes = 16 * 1024 * 1024;
const maxDepth = 400;
const maxNodes = 20_000;

/** Expected verdict on a screen. An absent field is not checked. */
export interface GoldenExpectation {
  state?: string;
  /** States under which the code must not store the screen. */
  not?: readonly string[];
  /** Stage at which the code starts. */
  stage?: string;
  /** Whether the code acts on the screen, or has arrived with it. */
  handled?: boolean;
}

/** Whether the state is any spelling of "unknown", all of which are equivalent. */
export const isUnknownState = (state: string): boolean => state.toLowerCase() === 'unknown';

export const isSameState = (one: string, other: string): boolean =>
  one === other || (isUnknownState(one) && isUnknownState(other));

type StateVerdict = Extract<ReplayVerdict, { kind: 'state' }>;

/** Whether the code acts on the screen, or has arrived with it. */
export const isHandled = ({ next }: StateVerdict): boolean => next === 'acts' || next === 'arrives';

/** Whether the code stores the screen under the expected state, whatever it does next. */
export const isExpectedState = (expect: GoldenExpectation, { state }: StateVerdict): boolean =>
  (expect.state === undefined || isSameState(state, expect.state)) &&
  expect.not?.some((name) => isSameState(state, name)) !== true;

/** Whether the verdict is the expected one. */
export const isExpected = (expect: GoldenExpectation, verdict: ReplayVerdict): boolean =>
  verdict.kind === 'state' &&
  isExpectedState(expect, verdict) &&
  (expect.handled === undefined || isHandled(verdict) === expect.handled);

/** Origin of the screen, for people. */
export type GoldenSource = Readonly<Record<string, string>>;

export interface GoldenScreen {
  expect: GoldenExpectation;
  from: GoldenSource;
  tree: ScreenTree;
}

/** Screens of a record in order, with the expected actions of the code on them. */
export interface GoldenRun {
  from: GoldenSource;
  ends: ReplaySequence['ends'];
  screens: readonly { state: string; stage: string; calls: readonly RecordedCall[]; tree: ScreenTree }[];
}

/** Thrown when a text is no golden screen. The message continues a sentence that starts with the file's name. */
export class GoldenScreenError extends Error {
  override readonly name = 'GoldenScreenError';
}

export function goldenText({ expect, from, tree: { root, ...screen } }: GoldenScreen): string {
  const head = { version: 1, expect, from, screen };
  const lines = Object.entries(head).map(([name, value]) => `${quoted(name)}: ${quoted(value)},`);
  return `{\n${lines.join('\n')}\n"tree":\n${nodeText(root, { packageName: '', index: 0, indent: '' })}\n}\n`;
}

/** Parses a golden screen. Throws a GoldenScreenError. */
export function parseGolden(text: string): GoldenScreen {
  if (text.length > maxGoldenBytes) throw wrong(`is larger than ${maxGoldenBytes} bytes`);
  const { version, expect, from = {}, screen, tree } = objectOf(parseJson(text), 'the file');
  if (version !== 1) throw wrong('is of another version: "version" must be 1');
  const root = readRoot(tree);
  return { expect: readExpectation(expect), from: readSource(from), tree: { ...readScreen(screen), root } };
}

export function goldenRunText({ from, ends, screens }: GoldenRun): string {
  const told = screens.map(({ tree: { root, ...screen }, ...of }) => {
    const head = quoted({ ...of, screen }).slice(0, -1);
    return `${head},"tree":\n${nodeText(root, { packageName: '', index: 0, indent: '' })}}`;
  });
  const head = `"version": 1,\n"from": ${quoted(from)},\n"ends": ${quoted(ends)}`;
  return `{\n${head},\n"screens": [\n${told.join(',\n')}\n]\n}\n`;
}

/** Parses a golden run. Throws a GoldenScreenError. */
export function parseGoldenRun(text: string): GoldenRun {
  if (text.length > maxGoldenRunBytes) throw wrong(`is larger than ${maxGoldenRunBytes} bytes`);
  const { version, from = {}, ends = null, screens } = objectOf(parseJson(text), 'the file');
  if (version !== 1) throw wrong('is of another version: "version" must be 1');
  if (ends !== null && ends !== 'submits' && ends !== 'throws')
    throw wrong('"ends" otherwise than a run: "submits", "throws" or null');
  if (!Array.isArray(screens) || screens.length === 0 || screens.length > maxRecordScreens)
    throw wrong(`is no golden run: "screens" are 1 to ${maxRecordScreens}`);
  return { from: readSource(from), ends, screens: screens.map(readRunScreen) };
}

function readRunScreen(value: unknown): GoldenRun['screens'][number] {
  const { state, stage, calls = [], screen, tree } = objectOf(value, 'a screen');
  return {
    state: textOf(state, 'state'),
    stage: textOf(stage, 'stage'),
    calls: readCalls(calls),
    tree: { ...readScreen(screen), root: readRoot(tree) },
  };
}

function readCalls(value: unknown): RecordedCall[] {
  if (Array.isArray(value) && value.length <= maxRecordedCalls) return value.map(readCall);
  throw wrong(`has a screen whose "calls" are no list of up to ${maxRecordedCalls}`);
}

const callFields: ReadonlyMap<string, 'string' | 'number'> = new Map([
  ...(['name', 'key', 'package'] as const).map((name) => [name, 'string'] as const),
  ...(['x', 'y', 'to_x', 'to_y', 'text_length'] as const).map((name) => [name, 'number'] as const),
]);

function readCall(value: unknown): RecordedCall {
  const told = objectOf(value, 'a call');
  for (const [name, field] of Object.entries(told))
    if (typeof field !== callFields.get(name))
      throw wrong(`has a call whose ${quoted(name)} is ${quoted(field)}`);
  return { ...told, name: textOf(told['name'], 'name') };
}

const quoted = (value: unknown): string => JSON.stringify(value);
const wrong = (problem: string): GoldenScreenError => new GoldenScreenError(problem);

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw wrong(`is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function objectOf(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw wrong(`is no golden screen: ${what} must be an object`);
  return { ...value };
}

type Field = Exclude<keyof UiNode, 'boundsInScreen' | 'children' | 'packageName' | 'index'>;

/** Default values of a node's fields, which the file omits. `null` marks a text that may be missing. */
const defaults: { readonly [Name in Field]: UiNode[Name] } = {
  className: null,
  viewId: null,
  text: null,
  description: null,
  hintText: null,
  tooltipText: null,
  paneTitle: null,
  containerTitle: null,
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
};
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- these are the keys of the table
const fields = Object.keys(defaults) as Field[];

interface Place {
  packageName: string;
  index: number;
  indent: string;
}

function nodeText(node: UiNode, { packageName, index, indent }: Place): string {
  const { left, top, right, bottom } = node.boundsInScreen;
  const told: Record<string, unknown> = {};
  for (const name of fields) if (node[name] !== defaults[name]) told[name] = node[name];
  if (node.packageName !== packageName) told['packageName'] = node.packageName;
  if (node.index !== index) told['index'] = node.index;
  const line = `${indent}${quoted({ ...told, bounds: [left, top, right, bottom] })}`;
  if (node.children.length === 0) return line;
  const children = node.children.map((child, at) =>
    nodeText(child, { packageName: node.packageName, index: at, indent: `${indent} ` }),
  );
  return `${line.slice(0, -1)},"children":[\n${children.join(',\n')}\n${indent}]}`;
}

function readRoot(value: unknown): UiNode {
  let count = 0;
  const read = (given: unknown, { packageName, index }: Omit<Place, 'indent'>, depth: number): UiNode => {
    count += 1;
    if (count > maxNodes || depth > maxDepth)
      throw wrong(`has more than ${maxNodes} nodes, or ${maxDepth} in one another`);
    const { children = [], ...told } = objectOf(given, 'a node');
    const node = readNode(told, { packageName, index });
    if (!Array.isArray(children)) throw wrong('has a node whose "children" are no list');
    const below = { packageName: node.packageName };
    return {
      ...node,
      children: children.map((child, at) => read(child, { ...below, index: at }, depth + 1)),
    };
  };
  return read(value, { packageName: '', index: 0 }, 1);
}

function readNode(
  { bounds, packageName, index, ...told }: Record<string, unknown>,
  place: Omit<Place, 'indent'>,
): Omit<UiNode, 'children'> {
  for (const [name, value] of Object.entries(told)) {
    const expected: unknown = Object.hasOwn(defaults, name) ? Reflect.get(defaults, name) : undefined;
    if (expected === undefined) throw wrong(`has a node with the unknown property "${name}"`);
    if (typeof value !== (expected === null ? 'string' : typeof expected))
      throw wrong(`has a node whose "${name}" is ${quoted(value)}`);
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each field was validated against the table
  const known = { ...defaults, ...told } as typeof defaults;
  if (known.password && /[^•●∙*.·]/u.test(known.text ?? ''))
    throw wrong('shows a password: replace its text by dots');
  return {
    ...known,
    packageName: typeof packageName === 'string' ? packageName : place.packageName,
    index: typeof index === 'number' ? index : place.index,
    boundsInScreen: readBounds(bounds),
  };
}

function readBounds(value: unknown): UiNode['boundsInScreen'] {
  const numbers = Array.isArray(value) ? value.map(Number) : [];
  const [left = 0, top = 0, right = 0, bottom = 0] = numbers;
  if (numbers.length !== 4 || !numbers.every(Number.isSafeInteger))
    throw wrong('has a node whose "bounds" are not [left, top, right, bottom]');
  return { left, top, right, bottom };
}

function readScreen(value: unknown): Omit<ScreenTree, 'root'> {
  const { packageName, rotation, capturedAt, source } = objectOf(value, '"screen"');
  if (typeof packageName !== 'string' || typeof rotation !== 'number' || typeof capturedAt !== 'number')
    throw wrong('is no golden screen: "screen" needs packageName, rotation and capturedAt');
  return { packageName, rotation, capturedAt, source: source === 'dump' ? 'dump' : 'uiautomator2' };
}

function readExpectation(value: unknown): GoldenExpectation {
  const { state, stage, handled, not, ...others } = objectOf(value, '"expect"');
  const [unknownName] = Object.keys(others);
  if (unknownName !== undefined) throw wrong(`expects "${unknownName}", which is unknown`);
  if (state === undefined && not === undefined) throw wrong('expects neither a "state" nor "not"');
  return {
    ...(state === undefined ? {} : { state: textOf(state, 'state') }),
    ...(not === undefined ? {} : { not: listOf(not).map((name) => textOf(name, 'not')) }),
    ...(stage === undefined ? {} : { stage: textOf(stage, 'stage') }),
    ...(handled === undefined ? {} : { handled: handled === true }),
  };
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);

function textOf(value: unknown, name: string): string {
  if (typeof value === 'string') return value;
  throw wrong(`has an "${name}" that is no text`);
}

const readSource = (value: unknown): GoldenSource =>
  Object.fromEntries(Object.entries(objectOf(value, '"from"')).map(([name, text]) => [name, String(text)]));
