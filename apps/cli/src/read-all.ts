import { maxPageLimit } from '@phalanx/protocol';

interface PageQuery {
  limit: number;
  cursor?: string;
}

/** What all pages of a list hold. */
export async function readAll<Page extends { next_cursor: string | null }, Item>(
  readPage: (query: PageQuery) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
): Promise<Item[]> {
  const items: Item[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await readPage({ limit: maxPageLimit, ...(cursor === undefined ? {} : { cursor }) });
    items.push(...itemsOf(page));
    cursor = page.next_cursor;
  }
  return items;
}
