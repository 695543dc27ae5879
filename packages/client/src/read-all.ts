import { maxPageLimit } from '@phalanx/protocol';

/** Page of a list or of a log. */
interface Page {
  /** Cursor of the next page; null on the last page. */
  readonly next_cursor: string | null;
}

/** Start of a page; without `cursor`, the first page. */
interface PageStart {
  readonly cursor?: string;
}

/** Yields the pages of a list, each of which is read on demand. */
export async function* readPages<Reply extends Page>(
  read: (start: PageStart) => Promise<Reply>,
): AsyncGenerator<Reply, void, undefined> {
  for (let start: PageStart = {}; ;) {
    const page = await read(start);
    yield page;
    if (page.next_cursor === null) return;
    start = { cursor: page.next_cursor };
  }
}

/** Reads a list to its end, in pages of the maximum size, and returns its items. */
export async function readAll<Reply extends Page, Item>(
  read: (query: PageStart & { readonly limit: number }) => Promise<Reply>,
  itemsOf: (page: Reply) => readonly Item[],
): Promise<Item[]> {
  const items: Item[] = [];
  for await (const page of readPages((start) => read({ ...start, limit: maxPageLimit })))
    items.push(...itemsOf(page));
  return items;
}
