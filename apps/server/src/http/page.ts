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
