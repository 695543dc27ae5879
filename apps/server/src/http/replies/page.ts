import { setImmediate as nextTurn } from 'node:timers/promises';
import { defaultPageLimit } from '@phalanx/protocol';

interface Page<Item> {
  items: Item[];
  next_cursor: string | null;
}

export const pageLimit = (query: { limit?: number }): number => query.limit ?? defaultPageLimit;

/** The page of `items`, of which one more than `limit` was read when there are more. */
export function toPage<Item>(
  items: readonly Item[],
  limit: number,
  cursorOf: (item: Item) => string,
): Page<Item> {
  const page = items.slice(0, limit);
  const last = items.length > limit ? page.at(-1) : undefined;
  return { items: page, next_cursor: last === undefined ? null : cursorOf(last) };
}

/**
 * The first items of several lists, each in the order of `cursorOf`. The lists are read one after the other, with a
 * turn of the event loop between them.
 */
export async function mergePages<Item>(
  lists: readonly (() => Promise<readonly Item[]>)[],
  cursorOf: (item: Item) => string,
  limit: number,
): Promise<Item[]> {
  let merged: Item[] = [];
  for (const list of lists) {
    const items = [...merged, ...(await list())];
    merged = items.sort((one, other) => (cursorOf(one) < cursorOf(other) ? -1 : 1)).slice(0, limit);
    await nextTurn();
  }
  return merged;
}
