import { inflateRawSync } from 'node:zlib';
import type { UiNode } from '@phalanx/protocol';
import type { TouchWindow } from '../touch/touch-look.ts';
import { unreadableTree } from '../driver-error.ts';
import { readableText } from '../tree/readable-text.ts';
import { maxDepth, maxNodes, maxTreeBytes, tooManyBytes, TreeSize } from '../tree/tree-size.ts';

const maxWindows = 1000;

export interface DecodedTrees {
  /** Toasts and notifications of the last seconds. */
  readonly announced: string[];
  /** Rotation in quarter turns. */
  readonly rotation: number;
  /** Roots of the windows, front to back. */
  readonly roots: UiNode[];
}

/** Inflates an answer of the helper. */
export function inflateTrees(payload: Buffer): Buffer {
  if (payload.length < 4) throw unreadableTree('it has no length');
  const length = payload.readUInt32BE(0);
  if (length > maxTreeBytes) throw tooManyBytes();
  try {
    const bytes = inflateRawSync(payload.subarray(4), { maxOutputLength: length });
    if (bytes.length === length) return bytes;
  } catch {
    // Rejected below, like a wrong length.
  }
  throw unreadableTree('it is not deflated as the helper does');
}

/** Decodes what Tree.java and Walk.java write. */
export function decodeTrees(bytes: Buffer): DecodedTrees {
  const reader = new TreeReader(bytes);
  const announced = reader.times(reader.bounded(maxWindows), () => reader.text() ?? '');
  const rotation = reader.number() & 3;
  const roots = reader.times(reader.bounded(maxWindows), (index) => readNode(reader, index, origin, 1));
  // The helper omits what exceeds its limits.
  const isCut = reader.number() !== 0;
  reader.finish();
  if (isCut) throw unreadableTree(`it has more than ${maxNodes} nodes, or is nested deeper than ${maxDepth}`);
  return { announced, rotation, roots };
}

/** AccessibilityWindowInfo.TYPE_INPUT_METHOD. */
const keyboardType = 2;

/** Decodes the windows that the helper lists without their trees, front to back. */
export function decodeWindows(bytes: Buffer): TouchWindow[] {
  const reader = new TreeReader(bytes);
  const windows = reader.times(reader.bounded(maxWindows), () => {
    const isKeyboard = reader.number() === keyboardType;
    const packageName = reader.text() ?? '';
    const [left, top, right, bottom] = [reader.signed(), reader.signed(), reader.signed(), reader.signed()];
    return { packageName, areas: [{ left, top, right, bottom }], isKeyboard };
  });
  reader.finish();
  return windows;
}

const origin = { left: 0, top: 0 };

function readNode(reader: TreeReader, index: number, parent: typeof origin, level: number): UiNode {
  reader.size.enter(level);
  // Differences of Java's numbers overflow 32 bits, as the sums do.
  const left = (parent.left + reader.signed()) | 0;
  const top = (parent.top + reader.signed()) | 0;
  const right = (left + reader.signed()) | 0;
  const boundsInScreen = { left, top, right, bottom: (top + reader.signed()) | 0 };
  const node = { ...readTexts(reader), index, boundsInScreen };
  reader.size.addTexts(node);
  for (let at = 0, count = reader.bounded(maxNodes); at < count; at += 1)
    if (reader.number() === 1)
      node.children.push(readNode(reader, node.children.length, boundsInScreen, level + 1));
  return node;
}

function readTexts(reader: TreeReader): Omit<UiNode, 'index' | 'boundsInScreen'> {
  const className = reader.text();
  const packageName = reader.text() ?? '';
  const viewId = reader.text();
  const text = reader.text();
  const description = reader.text();
  const flags = reader.number();
  const has = (bit: number): boolean => ((flags >>> bit) & 1) === 1;
  const [password, isShowingHintText] = [has(7), has(11)];
  return {
    className,
    packageName,
    viewId,
    // Apps that draw their own fields may expose the whole password.
    text: password && !isShowingHintText ? dots(text) : text,
    description,
    hintText: has(12) ? reader.text() : null,
    tooltipText: has(13) ? reader.text() : null,
    paneTitle: has(14) ? reader.text() : null,
    containerTitle: has(15) ? reader.text() : null,
    inputType: has(16) ? String(reader.number()) : '',
    maxTextLength: has(16) ? reader.signed() : -1,
    isShowingHintText,
    checkable: has(0),
    checked: has(1),
    clickable: has(2),
    enabled: has(3),
    focusable: has(4),
    focused: has(5),
    longClickable: has(6),
    password,
    scrollable: has(8),
    selected: has(9),
    visible: has(10),
    children: [],
  };
}

const dots = (text: string | null): string | null => '•'.repeat([...(text ?? '')].length) || null;

class TreeReader {
  readonly #bytes: Buffer;
  readonly #texts: (string | null)[] = [null];
  readonly size = new TreeSize();
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  number(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) break;
      this.#at += 1;
      value |= (byte & 127) << shift;
      if (byte < 128) return value >>> 0;
    }
    throw unreadableTree(`its number at ${this.#at} does not end`);
  }

  signed(): number {
    const value = this.number();
    return (value >>> 1) ^ -(value & 1);
  }

  bounded(max: number): number {
    const value = this.number();
    if (value > max) throw unreadableTree(`it counts ${value} at ${this.#at}`);
    return value;
  }

  /** Reads a text. An empty text is null, as everywhere. */
  text(): string | null {
    const number = this.number();
    if (number > this.#texts.length) throw unreadableTree(`its text ${number} was never told`);
    const known = this.#texts[number];
    if (known !== undefined) return known;
    const length = this.number();
    const end = this.#at + length;
    if (end > this.#bytes.length) throw unreadableTree(`its text at ${this.#at} does not end`);
    const text = readableText(this.#bytes.toString('utf8', this.#at, end)) || null;
    this.#at = end;
    this.#texts.push(text);
    return text;
  }

  times<T>(count: number, read: (index: number) => T): T[] {
    return Array.from({ length: count }, (_, index) => read(index));
  }

  finish(): void {
    if (this.#at < this.#bytes.length) throw unreadableTree('it goes on after its end');
  }
}
