import type { Bounds, ScreenTree, UiNode } from '@phalanx/protocol';

import { unreadableTree, unexpectedXml } from '../driver-error.ts';
import { readableText } from './readable-text.ts';
import { maxTreeBytes, tooManyBytes, TreeSize } from './tree-size.ts';

export type ParsedTree = Pick<ScreenTree, 'root' | 'packageName' | 'rotation' | 'announced'>;

/**
 * Parses both forms of Android's UI XML: element names are class names (UiAutomator2), or all are `node` (`uiautomator
 * dump`).
 */
export function parseTree(xml: string): ParsedTree {
  return readXml(xml).result();
}

/** Returns the windows of such a document, each by itself. */
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
  /** Returns the roots without toasts. */
  roots(): UiNode[];
}

function createReading(): Reading {
  const roots: UiNode[] = [];
  const path: UiNode[] = [];
  const windows = (): UiNode[] => roots.filter((root) => !isToast(root));
  const size = new TreeSize();
  let depth = 0;
  let rotation = 0;
  /** Depth within a node of another display, which is skipped with everything below it: 0 outside of one. */
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

/**
 * Whether a node belongs to another display. Bounds are pixels of a node's own display. The main display has the number
 * 0, and a node without a number belongs to it.
 */
function isOfOtherDisplay(attributes: ReadonlyMap<string, string>): boolean {
  return otherDisplay.test(attributes.get('display-id') ?? '');
}

const otherDisplay = /^[1-9]\d{0,9}$/;

/**
 * Whether a node is a toast. The helper puts the last toast or notification beside the windows, under a package that is
 * not its own.
 */
function isToast({ className }: UiNode): boolean {
  return className === 'android.widget.Toast';
}

function readRotation(name: string, attributes: ReadonlyMap<string, string>): number {
  if (name !== 'hierarchy')
    throw unreadableTree(`it starts with <${name.slice(0, 40)}> instead of <hierarchy>`);
  const quarterTurns = Number(attributes.get('rotation') ?? 0);
  return Number.isInteger(quarterTurns) && quarterTurns >= 0 && quarterTurns <= 3 ? quarterTurns : 0;
}

/** Puts several windows under one made-up root, in the form of a single window. */
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

/** Converts an XML element to a node. The names differ a little between UiAutomator2 and `uiautomator dump`. */
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

/**
 * Whether the text may be read. Android reports dots for a password, but apps that draw their own fields may expose all
 * of it. Dumps don't distinguish hints.
 */
const isReadable = (attributes: Attributes): boolean =>
  attributes.get('password') !== 'true' || attributes.get('showing-hint') !== 'false';

const dots = (text = ''): string | null => '•'.repeat(Array.from(text).length) || null;

/** Form of bounds. Android's numbers have 32 bits, and apps place what must not be seen as far away as possible. */
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

// Patterns that match at one place each. Text between elements belongs to none of them.
const declaration = /(?:<\?xml [^?<>]*\?>)?/y;
const space = /[\t\n\r ]*/y;
const text = /[^<&]*/y;
const startTag = /<([\w:.\-\u0080-\uFFFD]+)/y;
const startTagEnd = /\s*(\/?)>/y;
const endTag = /<\/([\w:.\-\u0080-\uFFFD]+)\s*>/y;

/**
 * Parses what Android writes of its screens: a declaration, elements and their attributes. Rejects everything else in
 * XML, such as custom entities, and elements without an end. Written by hand, because a general XML parser takes twice
 * as long, which was half of the host's work for a screen.
 */
export function readElements(told: string, reader: ElementReader): void {
  const xml = readableText(told);
  let at = 0;
  /** Matches the form at this place; null when it is not there. */
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
 * Reads the attributes from `start` on, and returns where they end. Most of a screen's text are attributes: searching
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

/** Finds the end of a value; `start` is after the quote. Infinite when the value has no quote or no end. */
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

/** Decodes the value of an attribute. */
function attributeText(value: string): string {
  // Older Androids write an emoji as two references to the halves of a surrogate pair, which together are one
  // character.
  return readableText(value.replace(reference, characterOf));
}

function characterOf(whole: string, decimal?: string, hexadecimal?: string): string {
  const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal);
  const character = code <= 0x10_ff_ff ? String.fromCodePoint(code) : named.get(whole);
  if (character === undefined) throw unreadableTree(`it refers to ${whole}`);
  return character;
}
