import { setImmediate as nextTurn } from 'node:timers/promises';
import { defaultPageLimit } from '@phalanx/protocol';

interface Page<Item> {
  items: Item[];
  next_cursor: string | null;
}

interface PageQuery {
  readonly cursor?: string;
  readonly limit?: number;
}

/** Part of a list. Its limit is one more than the size of the page, to show whether more items follow. */
interface ListPart {
  readonly cursor: string | undefined;
  readonly limit: number;
}

export const pageLimit = ({ limit }: PageQuery): number => limit ?? defaultPageLimit;

/** Reads the page that the query asks for. */
export async function readPage<Item>(
  query: PageQuery,
  list: (part: ListPart) => readonly Item[] | Promise<readonly Item[]>,
  cursorOf: (item: Item) => string,
): Promise<Page<Item>> {
  const limit = pageLimit(query);
  return toPage(await list({ cursor: query.cursor, limit: limit + 1 }), limit, cursorOf);
}

/** Makes the page of `items`, of which one more than `limit` was read when there are more. */
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
