import type { ScreenTree, UiNode } from '@phalanx/protocol';
import { SaxesParser } from 'saxes';
import { DriverError } from '../driver-error.ts';
import { toUiNode } from './ui-node.ts';

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
  if (xml.length > maxTextLength) throw unreadable(`it is over ${maxTextLength} characters`);
  const reading = createReading();
  const parser = new SaxesParser<{ xmlns: false; position: false }>({ xmlns: false, position: false });
  parser.on('error', (error) => {
    throw unreadable(error.message);
  });
  parser.on('opentag', ({ name, attributes }) => reading.open(name, attributes));
  parser.on('closetag', () => reading.close());
  parser.write(joinSurrogates(xml)).close();
  return reading;
}

interface Reading {
  open(name: string, attributes: Readonly<Record<string, string>>): void;
  close(): void;
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
      if (depth > maxDepth) throw unreadable(`it is nested deeper than ${maxDepth}`);
      if (nodes > maxNodes) throw unreadable(`it has more than ${maxNodes} nodes`);
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

function readRotation(name: string, { rotation }: Readonly<Record<string, string>>): number {
  if (name !== 'hierarchy') throw unreadable(`it starts with <${name.slice(0, 40)}> instead of <hierarchy>`);
  const quarterTurns = Number(rotation ?? 0);
  return Number.isInteger(quarterTurns) && quarterTurns >= 0 && quarterTurns <= 3 ? quarterTurns : 0;
}

/** Several windows are put under one made-up root, the way a single window comes. */
function onlyRoot(roots: UiNode[]): Pick<ParsedTree, 'root' | 'packageName'> {
  const [first] = roots;
  if (first === undefined) throw unreadable('it is empty');
  const { packageName } = first;
  if (roots.length === 1) return { root: first, packageName };
  const bounds = roots.reduce((all, { boundsInScreen }) => union(all, boundsInScreen), first.boundsInScreen);
  return {
    root: { ...toUiNode('hierarchy', {}), packageName, boundsInScreen: bounds, children: roots },
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

// Older Androids write an emoji as two references to the halves of a surrogate pair, which XML forbids.
const surrogatePair = /&#(5[5-6]\d{3});&#(5[6-7]\d{3});/g;

function joinSurrogates(xml: string): string {
  return xml.replace(surrogatePair, (both: string, high: string, low: string) => {
    const text = String.fromCharCode(Number(high), Number(low));
    return text.isWellFormed() ? text : both;
  });
}

function unreadable(why: string): DriverError {
  return new DriverError('screen_not_readable', `The phone's UI tree can't be read: ${why}.`);
}
