import type { TouchReach } from '@phalanx/protocol';
import { searchOf } from './android-node-filter.ts';
import { nodesBelow, lookOf, isBelow } from './node-search.ts';
import type { Aim, WaitParts } from '../waits/wait-until.ts';

type Bounds = AndroidNode['boundsInScreen'];
export type Direction = NonNullable<ScrollOptions['direction']>;

/** Duration of a swipe in ms, slow enough that the fling afterwards skips no content. */
const swipeMs = 600;
const swipedShare = 0.4;
/** Number of readings after which a list counts as at rest even if its content moves by itself. */
const maxLooksForRest = 10;
/** Number of swipes without effect that mean the end; a list that loads more content may need the second one. */
const vainSwipesAtEnd = 2;

const ways: Readonly<Record<Direction, readonly [x: number, y: number]>> = {
  down: [0, -1],
  up: [0, 1],
  left: [1, 0],
  right: [-1, 0],
};

/** Wait that scrolls its target into view. */
export function scrollAim(
  { swipe, reach }: Pick<WaitParts, 'swipe' | 'reach'>,
  target: string | RegExp | NodeConditions,
  { direction = 'down', within, signal }: ScrollOptions,
): Aim<AndroidNode | undefined> {
  if (!Object.hasOwn(ways, direction))
    throw new TypeError(`scrollTo goes ${Object.keys(ways).join(', ')}, but not ${String(direction)}.`);
  const search = searchOf(target);
  const rest = createRest();
  const ask = askerOf({ reach }, signal);
  let lookBefore: string | undefined;
  let vainSwipes = 0;
  let obstacle = '';
  return {
    near: search.near,
    get awaited() {
      const end = this.isHopeless === true ? ' to the end' : '';
      return `${search.awaited} to be in view, scrolling ${direction}${end}${obstacle}`;
    },
    get isHopeless() {
      return vainSwipes >= vainSwipesAtEnd;
    },
    async test(screen) {
      const list = within === undefined ? largestList(screen) : screen.filterOne(within);
      const look = lookOf(list ?? screen);
      if (!rest.isReached(look)) return undefined;
      obstacle = '';
      const inView = search.findAll(screen).filter((node) => isInView(node, list, screen));
      for (const node of inView.slice(0, maxCandidates)) {
        const found = await ask(node);
        if (found.state === 'free') return node;
        obstacle = `. It is there, but not to be touched: ${found.reason}`;
      }
      if (list === null) return undefined;
      vainSwipes = look === lookBefore ? vainSwipes + 1 : 0;
      lookBefore = look;
      if (vainSwipes >= vainSwipesAtEnd) return undefined;
      const area = await freePartOf(list, ask);
      await swipe(...swipeWithin(area, direction), swipeMs, { signal: signal ?? null });
      rest.disturb();
      return undefined;
    },
  };
}

/** Maximum number of candidates to test, because the host queries the phone for each. */
const maxCandidates = 10;

/** Returns the area of a list that is free for swipes. A swipe that starts on the keyboard scrolls no list. */
async function freePartOf(list: AndroidNode, ask: AskReach): Promise<Bounds> {
  const found = await ask(list);
  return found.state === 'free' ? found.area : list.boundsInScreen;
}

type AskReach = (node: AndroidNode) => Promise<TouchReach>;

/**
 * Returns a query for reachable points. It treats an unreadable phone as a failed attempt, which the next reading
 * repeats, as in all waits.
 */
const askerOf =
  ({ reach }: Pick<WaitParts, 'reach'>, signal: AbortSignal | null = null): AskReach =>
  async (node) =>
    reach(node, signal).catch((error: unknown) => ({
      state: 'gone',
      reason: error instanceof Error ? error.message : String(error),
    }));

/**
 * Detects when a swiped list has come to rest: its content keeps moving for a moment, and a tap would miss its
 * target.
 */
function createRest(): { isReached(look: string): boolean; disturb(): void } {
  let looksLeft = 0;
  let last: string | undefined;
  return {
    isReached(look) {
      const isStill = looksLeft === 0 || look === last;
      looksLeft = isStill ? 0 : looksLeft - 1;
      last = look;
      return isStill;
    },
    disturb() {
      looksLeft = maxLooksForRest;
      last = undefined;
    },
  };
}

/** Returns the largest scrollable node, or else the screen: apps that draw their own content expose no list. */
function largestList(screen: AndroidNode): AndroidNode {
  const lists = nodesBelow(screen).filter((node) => node.isScrollable && node.isVisible);
  return lists.toSorted((a, b) => areaOf(b.boundsInScreen) - areaOf(a.boundsInScreen))[0] ?? screen;
}

const areaOf = ({ left, top, right, bottom }: Bounds): number => (right - left) * (bottom - top);

const middleOf = ({ left, top, right, bottom }: Bounds): [x: number, y: number] => [
  (left + right) / 2,
  (top + bottom) / 2,
];

/** Whether a node can be touched: its center must be on the screen and inside of its list. */
function isInView(node: AndroidNode, list: AndroidNode | null, screen: AndroidNode): boolean {
  const frame = list !== null && isBelow(node, [list]) ? list.boundsInScreen : screen.boundsInScreen;
  const [x, y] = middleOf(node.boundsInScreen);
  const isInside = x >= frame.left && x < frame.right && y >= frame.top && y < frame.bottom;
  return node.isVisible && isInside && areaOf(node.boundsInScreen) > 0;
}

function swipeWithin(
  bounds: Bounds,
  direction: Direction,
): [fromX: number, fromY: number, toX: number, toY: number] {
  const [x, y] = middleOf(bounds);
  const [across, along] = ways[direction];
  const byX = (across * swipedShare * (bounds.right - bounds.left)) / 2;
  const byY = (along * swipedShare * (bounds.bottom - bounds.top)) / 2;
  return [x - byX, y - byY, x + byX, y + byY];
}

/** Default timeout in ms, longer than for other waits, because lists may be long. */
export const collectTimeoutMs = 120_000;

/** Wait that scrolls to the end of a list and reads its rows. */
export function collectAim<T>(
  { swipe, reach }: Pick<WaitParts, 'swipe' | 'reach'>,
  readRow: (row: AndroidNode) => T | null | undefined,
  { direction = 'down', within, signal }: ScrollOptions,
): Aim<T[] | undefined> {
  const rest = createRest();
  const ask = askerOf({ reach }, signal);
  let lookBefore: string | undefined;
  let vainSwipes = 0;
  let rows: T[] = [];
  let isFirst = true;
  return {
    awaited: `the end of the list, scrolling ${direction}`,
    async test(screen) {
      const list = within === undefined ? largestList(screen) : screen.filterOne(within);
      if (list === null) return undefined;
      const look = lookOf(list);
      if (!rest.isReached(look)) return undefined;
      vainSwipes = look === lookBefore ? vainSwipes + 1 : 0;
      lookBefore = look;
      const isEnd = vainSwipes >= vainSwipesAtEnd;
      rows = joined(rows, readAll(list, { direction, isFirst, isEnd }, readRow), direction);
      isFirst = false;
      if (isEnd) return rows;
      const area = await freePartOf(list, ask);
      await swipe(...swipeWithin(area, direction), swipeMs, { signal: signal ?? null });
      rest.disturb();
      return undefined;
    },
  };
}

interface View {
  readonly direction: Direction;
  readonly isFirst: boolean;
  readonly isEnd: boolean;
}

/** Reads the complete rows. Rows cut off at the edge of the list become complete after the next swipe. */
function readAll<T>(list: AndroidNode, view: View, readRow: (row: AndroidNode) => T | null | undefined): T[] {
  return rowsOf(list)
    .filter((row) => row.isVisible && isWhole(row.boundsInScreen, list.boundsInScreen, view))
    .flatMap((row) => readRow(row) ?? []);
}

/** Returns the rows of a list. A scrollable node may have a single child that contains the rows. */
function rowsOf(list: AndroidNode): readonly AndroidNode[] {
  let { children } = list;
  while (children.length === 1 && (children[0]?.children.length ?? 0) > 1)
    children = children[0]?.children ?? [];
  return children;
}

function isWhole(row: Bounds, list: Bounds, { direction, isFirst, isEnd }: View): boolean {
  const isAcross = direction === 'left' || direction === 'right';
  const [low, high] = isAcross ? (['left', 'right'] as const) : (['top', 'bottom'] as const);
  const isForward = direction === 'down' || direction === 'right';
  const [mayTouchLow, mayTouchHigh] = isForward ? [isFirst, isEnd] : [isEnd, isFirst];
  return (mayTouchLow || row[low] > list[low]) && (mayTouchHigh || row[high] < list[high]);
}

/** Merges two overlapping views of the rows: the end of one is the beginning of the other. */
function joined<T>(known: readonly T[], seen: readonly T[], direction: Direction): T[] {
  const [first, second] = direction === 'down' || direction === 'right' ? [known, seen] : [seen, known];
  const [ends, starts] = [first.map((row) => JSON.stringify(row)), second.map((row) => JSON.stringify(row))];
  for (let shared = Math.min(ends.length, starts.length); shared > 0; shared -= 1)
    if (starts.slice(0, shared).every((row, index) => row === ends[ends.length - shared + index]))
      return [...first, ...second.slice(shared)];
  return [...first, ...second];
}
