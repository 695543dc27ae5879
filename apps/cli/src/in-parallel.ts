/** Enough to hide the way to the server, and no load on it. */
const width = 8;

/** Works on the items in their order, a few at a time. */
export async function inParallel<Item>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<void>,
): Promise<void> {
  const left = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of left) await work(item, index);
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker));
}
