import type { Bounds, ScreenTree, UiNode } from '@phalanx/protocol';
import { type ElementReader, readElements } from './read-elements.ts';
import { unreadableTree } from '../driver-error.ts';

// What a phone sends is not trusted: larger trees than any app draws are refused before they cost memory or time.
const maxTextLength = 4 * 1024 * 1024;
const maxDepth = 400;
const maxNodes = 20_000;

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
  if (xml.length > maxTextLength) throw unreadableTree(`it is over ${maxTextLength} characters`);
  const reading = createReading();
  readElements(xml, reading);
  return reading;
}

interface Reading extends ElementReader {
  result(): ParsedTree;
  /** Without toasts. */
  roots(): UiNode[];
}

function createReading(): Reading {
  const roots: UiNode[] = [];
  const path: UiNode[] = [];
  const windows = (): UiNode[] => roots.filter((root) => !isToast(root));
  let depth = 0;
  let nodes = 0;
  let rotation = 0;
  return {
    open(name, attributes) {
      depth += 1;
      nodes += 1;
      if (depth > maxDepth) throw unreadableTree(`it is nested deeper than ${maxDepth}`);
      if (nodes > maxNodes) throw unreadableTree(`it has more than ${maxNodes} nodes`);
      if (depth === 1) rotation = readRotation(name, attributes);
      else {
        const node = toUiNode(name, attributes);
        (path.at(-1)?.children ?? roots).push(node);
        path.push(node);
      }
    },
    close() {
      depth -= 1;
      path.pop();
    },
    result: () => ({
      ...onlyRoot(windows()),
      rotation,
      announced: roots.filter(isToast).map(({ text }) => text ?? ''),
    }),
    roots: windows,
  };
}

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
export function onlyRoot(roots: UiNode[]): Pick<ParsedTree, 'root' | 'packageName'> {
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

const boundsForm = /^\[(-?\d{1,7}),(-?\d{1,7})\]\[(-?\d{1,7}),(-?\d{1,7})\]$/;

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
