import type { Bounds, ScreenTree, UiNode } from '@phalanx/protocol';

import { unreadableTree, unexpectedXml } from '../driver-error.ts';
import { readableText } from './readable-text.ts';
import { maxTreeBytes, tooManyBytes, TreeSize } from './tree-size.ts';

export type ParsedTree = Pick<ScreenTree, 'root' | 'packageName' | 'rotation' | 'announced'>;

/** Reads both forms of Android's UI XML: element names are class names (UiAutomator2), or all are `node` (`uiautomator dump`). */
export function parseTree(xml: string): ParsedTree {
  return readXml(xml).result();
}

/** The windows of such a document, each by itself. */
export function parseRoots(xml: string): UiNode[] {
  return readXml(xml).roots();
}

function readXml(xml: string): Reading {
  if (xml.length > maxTreeBytes) throw tooManyBytes();
  const reading = createReading();
  readElements(xml, reading);
  return reading;
}

interface Reading extends ElementReader {
  result(): ParsedTree;
  /** Roots without toasts. */
  roots(): UiNode[];
}

function createReading(): Reading {
  const roots: UiNode[] = [];
  const path: UiNode[] = [];
  const windows = (): UiNode[] => roots.filter((root) => !isToast(root));
  const size = new TreeSize();
  let depth = 0;
  let rotation = 0;
  /** Depth of the node of another display that is read now, with all below it: 0 for none. */
  let elsewhere = 0;
  let hasOthers = false;
  return {
    open(name, attributes) {
      depth += 1;
      if (depth > 1) size.enter(depth - 1);
      if (elsewhere > 0) return;
      if (depth === 1) rotation = readRotation(name, attributes);
      else if (isOfOtherDisplay(attributes)) {
        elsewhere = depth;
        hasOthers = true;
      } else {
        const node = toUiNode(name, attributes);
        size.addTexts(node);
        (path.at(-1)?.children ?? roots).push(node);
        path.push(node);
      }
    },
    close() {
      depth -= 1;
      if (elsewhere === 0) path.pop();
      else if (depth < elsewhere) elsewhere = 0;
    },
    result() {
      const own = windows();
      if (own.length === 0 && hasOthers)
        throw unreadableTree('it has windows of other displays, and none of the main one');
      const announced = roots.filter(isToast).map(({ text }) => text ?? '');
      return { ...onlyRoot(own), rotation, announced };
    },
    roots: windows,
  };
}

/** Bounds are pixels of a node's own display, and the main one has the number 0. Without a number a node is of the main one. */
function isOfOtherDisplay(attributes: ReadonlyMap<string, string>): boolean {
  return otherDisplay.test(attributes.get('display-id') ?? '');
}

const otherDisplay = /^[1-9]\d{0,9}$/;

/** The helper puts the last toast or notification beside the windows, under a package that is not its own. */
function isToast({ className }: UiNode): boolean {
  return className === 'android.widget.Toast';
}

function readRotation(name: string, attributes: ReadonlyMap<string, string>): number {
  if (name !== 'hierarchy')
    throw unreadableTree(`it starts with <${name.slice(0, 40)}> instead of <hierarchy>`);
  const quarterTurns = Number(attributes.get('rotation') ?? 0);
  return Number.isInteger(quarterTurns) && quarterTurns >= 0 && quarterTurns <= 3 ? quarterTurns : 0;
}

/** Several windows are put under one made-up root, the way a single window comes. */
function onlyRoot(roots: UiNode[]): Pick<ParsedTree, 'root' | 'packageName'> {
  const [first] = roots;
  if (first === undefined) throw unreadableTree('it is empty');
  const { packageName } = first;
  if (roots.length === 1) return { root: first, packageName };
  const bounds = roots.reduce((all, { boundsInScreen }) => union(all, boundsInScreen), first.boundsInScreen);
  return {
    root: { ...toUiNode('hierarchy', new Map()), packageName, boundsInScreen: bounds, children: roots },
    packageName,
  };
}

function union(a: UiNode['boundsInScreen'], b: UiNode['boundsInScreen']): UiNode['boundsInScreen'] {
  return {
    left: Math.min(a.left, b.left),
    top: Math.min(a.top, b.top),
    right: Math.max(a.right, b.right),
    bottom: Math.max(a.bottom, b.bottom),
  };
}

type Attributes = ReadonlyMap<string, string>;

/** An XML element as a node. The names differ a little between UiAutomator2 and `uiautomator dump`. */
export function toUiNode(elementName: string, attributes: Attributes): UiNode {
  const text = (name: string): string | null => attributes.get(name) || null;
  const flag = (name: string): boolean => attributes.get(name) === 'true';
  return {
    className: text('class') ?? (elementName === 'node' ? null : elementName),
    packageName: attributes.get('package') ?? '',
    viewId: text('resource-id'),
    text: isReadable(attributes) ? text('text') : dots(attributes.get('text')),
    description: text('content-desc'),
    hintText: text('hint'),
    tooltipText: text('tooltip-text'),
    paneTitle: text('pane-title'),
    containerTitle: text('container-title'),
    index: integer(attributes.get('index'), 0),
    boundsInScreen: parseBounds(attributes.get('bounds')),
    maxTextLength: integer(attributes.get('max-text-length'), -1),
    inputType: attributes.get('input-type') ?? '',
    isShowingHintText: flag('showing-hint'),
    checkable: flag('checkable'),
    checked: flag('checked'),
    clickable: flag('clickable'),
    enabled: flag('enabled'),
    focusable: flag('focusable'),
    focused: flag('focused'),
    longClickable: flag('long-clickable'),
    password: flag('password'),
    scrollable: flag('scrollable'),
    selected: flag('selected'),
    visible: (attributes.get('displayed') ?? attributes.get('visible-to-user')) !== 'false',
    children: [],
  };
}

/** Android tells dots of a password; apps that draw their fields themselves may tell all of it. Dumps don't tell hints apart. */
const isReadable = (attributes: Attributes): boolean =>
  attributes.get('password') !== 'true' || attributes.get('showing-hint') !== 'false';

const dots = (text = ''): string | null => '•'.repeat(Array.from(text).length) || null;

/** Android's are numbers of 32 bits: apps place what must not be seen as far away as they go. */
const boundsForm = /^\[(-?\d{1,10}),(-?\d{1,10})\]\[(-?\d{1,10}),(-?\d{1,10})\]$/;

function parseBounds(value = ''): Bounds {
  const [, left, top, right, bottom] = boundsForm.exec(value) ?? [];
  return {
    left: integer(left, 0),
    top: integer(top, 0),
    right: integer(right, 0),
    bottom: integer(bottom, 0),
  };
}

function integer(value: string | undefined, otherwise: number): number {
  const number = value === undefined || value === '' ? Number.NaN : Number(value);
  return Number.isSafeInteger(number) ? number : otherwise;
}

interface ElementReader {
  open(name: string, attributes: ReadonlyMap<string, string>): void;
  close(): void;
}

// Each at one place. Text between elements belongs to none of them.
const declaration = /(?:<\?xml [^?<>]*\?>)?/y;
const space = /[\t\n\r ]*/y;
const text = /[^<&]*/y;
const startTag = /<([\w:.\-\u0080-\uFFFD]+)/y;
const startTagEnd = /\s*(\/?)>/y;
const endTag = /<\/([\w:.\-\u0080-\uFFFD]+)\s*>/y;

/**
 * Reads what Android writes of its screens: a declaration, elements and their attributes. Refuses all else that XML knows,
 * such as entities of its own, and elements that don't end. By hand, because a parser of any XML takes twice as long, which
 * was half of what the host does for a screen.
 */
export function readElements(told: string, reader: ElementReader): void {
  const xml = readableText(told);
  let at = 0;
  /** Matches the form at this place; null when it does not stand there. */
  const find = (form: RegExp): RegExpExecArray | null => {
    form.lastIndex = at;
    const found = form.exec(xml);
    if (found !== null) at = form.lastIndex;
    return found;
  };
  const take = (form: RegExp): string => {
    const found = find(form);
    if (found === null) throw unexpectedXml(at);
    return found[1] ?? '';
  };
  const takeAttributes = (): Map<string, string> => {
    const attributes = new Map<string, string>();
    at = readAttributes(xml, at, attributes);
    return attributes;
  };
  const open: string[] = [];
  take(declaration);
  do {
    take(open.length === 0 ? space : text);
    const ended = find(endTag);
    if (ended === null) {
      const name = take(startTag);
      reader.open(name, takeAttributes());
      open.push(name);
      if (take(startTagEnd) === '') continue;
    } else if (ended[1] !== open.at(-1)) throw unexpectedXml(at);
    open.pop();
    reader.close();
  } while (open.length > 0);
  take(space);
  if (at < xml.length) throw unexpectedXml(at);
}

const equalsSign = '='.charCodeAt(0);
const asciiInNames = Uint8Array.from({ length: 0x80 }, (_, code) =>
  /[\w:.-]/.test(String.fromCharCode(code)) ? 1 : 0,
);

/** Tab, line feed, carriage return, space. */
const isSpace = (code: number): boolean => code === 32 || code === 10 || code === 13 || code === 9;

const isInName = (code: number): boolean => (code < 0x80 ? asciiInNames[code] === 1 : code <= 0xff_fd);

/**
 * Reads the attributes that stand from `start` on, and returns where they end. Most of a screen's text are attributes: searching
 * for quotes costs a third less than a regular expression for each of them.
 */
function readAttributes(xml: string, start: number, attributes: Map<string, string>): number {
  const nextTag = xml.indexOf('<', start);
  const limit = nextTag === -1 ? xml.length : nextTag;
  let at = start;
  for (;;) {
    const nameStart = afterSpace(xml, at);
    const nameEnd = afterName(xml, nameStart);
    if (nameEnd === nameStart) return at;
    const valueStart = afterSpace(xml, afterEqualsSign(xml, nameEnd)) + 1;
    const valueEnd = endOfValue(xml, valueStart);
    const name = xml.slice(nameStart, nameEnd);
    if (nameStart === at || valueEnd > limit || attributes.has(name)) throw unexpectedXml(at);
    const value = xml.slice(valueStart, valueEnd);
    attributes.set(name, value.includes('&') ? attributeText(value) : value);
    at = valueEnd + 1;
  }
}

/** `start` is after the quote. Infinite when the value has none, or doesn't end. */
function endOfValue(xml: string, start: number): number {
  const quote = xml[start - 1];
  const end = quote === '"' || quote === "'" ? xml.indexOf(quote, start) : -1;
  return end === -1 ? Infinity : end;
}

function afterEqualsSign(xml: string, start: number): number {
  const at = afterSpace(xml, start);
  if (xml.charCodeAt(at) !== equalsSign) throw unexpectedXml(at);
  return at + 1;
}

function afterSpace(xml: string, start: number): number {
  let at = start;
  while (isSpace(xml.charCodeAt(at))) at += 1;
  return at;
}

function afterName(xml: string, start: number): number {
  let at = start;
  while (isInName(xml.charCodeAt(at))) at += 1;
  return at;
}

const named: ReadonlyMap<string, string> = new Map([
  ['&amp;', '&'],
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
  ['&apos;', "'"],
]);

const reference = /&(?:#(\d{1,7});|#x([\da-fA-F]{1,6});|[a-z]{2,4};)?/g;

/** The text that an attribute's value stands for. */
function attributeText(value: string): string {
  // Older Androids write an emoji as two references to the halves of a surrogate pair: together they are a character.
  return readableText(value.replace(reference, characterOf));
}

function characterOf(whole: string, decimal?: string, hexadecimal?: string): string {
  const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal);
  const character = code <= 0x10_ff_ff ? String.fromCodePoint(code) : named.get(whole);
  if (character === undefined) throw unreadableTree(`it refers to ${whole}`);
  return character;
}
