import type { AgentCallName, Bounds, RecordedCall, UiNode } from '@phalanx/protocol';

/** Android codes of keys that type no character: typed characters are never recorded. */
const keyNames: Readonly<Record<number, string>> = {
  3: 'HOME',
  4: 'BACK',
  19: 'DPAD_UP',
  20: 'DPAD_DOWN',
  21: 'DPAD_LEFT',
  22: 'DPAD_RIGHT',
  23: 'DPAD_CENTER',
  24: 'VOLUME_UP',
  25: 'VOLUME_DOWN',
  26: 'POWER',
  27: 'CAMERA',
  61: 'TAB',
  66: 'ENTER',
  67: 'DEL',
  82: 'MENU',
  84: 'SEARCH',
  85: 'MEDIA_PLAY_PAUSE',
  92: 'PAGE_UP',
  93: 'PAGE_DOWN',
  111: 'ESCAPE',
  112: 'FORWARD_DEL',
  122: 'MOVE_HOME',
  123: 'MOVE_END',
  187: 'APP_SWITCH',
  223: 'SLEEP',
  224: 'WAKEUP',
  277: 'CUT',
  278: 'COPY',
  279: 'PASTE',
};

/** Calls that act on the focused field. */
const toField: ReadonlySet<AgentCallName> = new Set([
  'input.text',
  'input.clearText',
  'input.key',
  'secret.type',
]);

interface Point {
  readonly x: number;
  readonly y: number;
}

/** Notes the calls of one run for records: where they touched and what they opened, but never what was typed. */
export class CallNotes {
  /** Bounds of masked nodes and password fields; undefined when unknown. */
  #hidden: readonly Bounds[] | undefined;
  /** Returns the points of the focused field, as far as known. */
  #focus: (() => readonly Point[]) | undefined;

  /** Records that the automation has read this screen. */
  read(root: UiNode, hidden: readonly Bounds[] | undefined): void {
    this.#hidden = hidden;
    this.#focus = () => focusOf(root);
  }

  /**
   * Returns the note of a call; undefined when the call acts on hidden content. On a screen that was not read, only the
   * name of the call is noted.
   */
  note(name: AgentCallName, params: object): RecordedCall | undefined {
    const hidden = this.#hidden;
    const points = pointsOf(params);
    const aims = toField.has(name) ? this.#focus?.() : points;
    if (points.length > 0) this.#focus = () => points;
    else if (!toField.has(name) || name === 'input.key') this.#focus = undefined;
    if (hidden === undefined || aims === undefined) return { name, ...keyOf(name, params) };
    if (aims.some((point) => hidden.some((bounds) => contains(bounds, point)))) return undefined;
    return { name, ...touchOf(points), ...keyOf(name, params), ...wordsOf(name, params) };
  }
}

function touchOf([from, to]: readonly Point[]): Partial<RecordedCall> {
  return {
    ...(from !== undefined && { x: from.x, y: from.y }),
    ...(to !== undefined && { to_x: to.x, to_y: to.y }),
  };
}

function keyOf(name: AgentCallName, params: object): Partial<RecordedCall> {
  const key = name === 'input.key' ? keyNames[Number(valueOf(params, 'keyCode'))] : undefined;
  return key === undefined ? {} : { key };
}

function wordsOf(name: AgentCallName, params: object): Partial<RecordedCall> {
  const packageName = valueOf(params, 'packageName');
  const text = name === 'input.text' ? valueOf(params, 'text') : undefined;
  return {
    ...(typeof packageName === 'string' && { package: packageName }),
    ...(typeof text === 'string' && { text_length: text.length }),
  };
}

const valueOf = (params: object, name: string): unknown => Reflect.get(params, name);

const contains = ({ left, top, right, bottom }: Bounds, { x, y }: Point): boolean =>
  x >= left && x < right && y >= top && y < bottom;

/** Returns the points of a call: the place of a touch, both ends of a swipe, and those of all fingers. */
function pointsOf(params: object): Point[] {
  const ways = valueOf(params, 'ways');
  if (Array.isArray(ways)) return ways.flatMap((way) => (isObject(way) ? pointsOf(way) : []));
  return [
    ['x', 'y'],
    ['fromX', 'fromY'],
    ['toX', 'toY'],
  ].flatMap(([across = '', down = '']) => {
    const [x, y] = [valueOf(params, across), valueOf(params, down)];
    return typeof x === 'number' && typeof y === 'number' ? [{ x, y }] : [];
  });
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Returns the centers of the focused nodes. */
function focusOf(root: UiNode): Point[] {
  const points: Point[] = [];
  const waiting = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    const { left, top, right, bottom } = node.boundsInScreen;
    if (node.focused) points.push({ x: Math.floor((left + right) / 2), y: Math.floor((top + bottom) / 2) });
    waiting.push(...node.children);
  }
  return points;
}
