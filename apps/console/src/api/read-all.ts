/** All rows of a list that comes in pages. */
export async function readAll<Row>(
  readPage: (cursor: string | undefined) => Promise<{ rows: readonly Row[]; next: string | null }>,
): Promise<Row[]> {
  const all: Row[] = [];
  for (let cursor: string | undefined; ;) {
    const { rows, next } = await readPage(cursor);
    all.push(...rows);
    if (next === null) return all;
    cursor = next;
  }
}
