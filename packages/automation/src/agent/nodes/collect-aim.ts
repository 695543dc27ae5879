import {
  createRest,
  largestList,
  swipeMs,
  swipeWithin,
  vainSwipesAtEnd,
  type Direction,
} from './scroll-aim.ts';
import { lookOf } from '../screen-look.ts';
import type { Aim, WaitParts } from '../waits/wait-until.ts';

/** A long list takes longer than what is otherwise waited for. */
export const collectTimeoutMs = 120_000;

/** A wait that reads the rows of a list while it scrolls, until the list goes on no further. */
export function collectAim<T>(
  { swipe }: Pick<WaitParts, 'swipe'>,
  readRow: (row: AndroidNode) => T | null | undefined,
  { direction = 'down', within, signal }: ScrollOptions,
): Aim<T[] | undefined> {
  const rest = createRest();
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
      await swipe(...swipeWithin(list.boundsInScreen, direction), swipeMs, { signal: signal ?? null });
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

/** The rows that are whole: the list cuts off those at its edges, which come with the next swipe. */
function readAll<T>(list: AndroidNode, view: View, readRow: (row: AndroidNode) => T | null | undefined): T[] {
  return rowsOf(list)
    .filter((row) => row.isVisible && isWhole(row.boundsInScreen, list.boundsInScreen, view))
    .flatMap((row) => readRow(row) ?? []);
}

/** What a list scrolls may be a single node that has the rows. */
function rowsOf(list: AndroidNode): readonly AndroidNode[] {
  let { children } = list;
  while (children.length === 1 && (children[0]?.children.length ?? 0) > 1)
    children = children[0]?.children ?? [];
  return children;
}

type Bounds = AndroidNode['boundsInScreen'];

function isWhole(row: Bounds, list: Bounds, { direction, isFirst, isEnd }: View): boolean {
  const isAcross = direction === 'left' || direction === 'right';
  const [low, high] = isAcross ? (['left', 'right'] as const) : (['top', 'bottom'] as const);
  const isForward = direction === 'down' || direction === 'right';
  const [mayTouchLow, mayTouchHigh] = isForward ? [isFirst, isEnd] : [isEnd, isFirst];
  return (mayTouchLow || row[low] > list[low]) && (mayTouchHigh || row[high] < list[high]);
}

/** Both views show some of the rows: they are joined where the end of one is the beginning of the other. */
function joined<T>(known: readonly T[], seen: readonly T[], direction: Direction): T[] {
  const [first, second] = direction === 'down' || direction === 'right' ? [known, seen] : [seen, known];
  const [ends, starts] = [first.map((row) => JSON.stringify(row)), second.map((row) => JSON.stringify(row))];
  for (let shared = Math.min(ends.length, starts.length); shared > 0; shared -= 1)
    if (starts.slice(0, shared).every((row, index) => row === ends[ends.length - shared + index]))
      return [...first, ...second.slice(shared)];
  return [...first, ...second];
}
