/** What a phone does at a touch has begun after so long, in milliseconds. */
const beginsMs = 200;
const pauseMs = 150;
const mostReads = 12;

/** A screen that two readings in a row show alike; the last one, of a screen that never comes to rest. */
export async function untilSettled(
  read: () => Promise<AndroidNode>,
  pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms)),
): Promise<AndroidNode> {
  await pause(beginsMs);
  let last = await read();
  for (let reads = 1; reads < mostReads; reads += 1) {
    await pause(pauseMs);
    const next = await read();
    if (lookOf(next) === lookOf(last)) return next;
    last = next;
  }
  return last;
}

const lookOf = (screen: AndroidNode): string =>
  screen
    .allNodes()
    .map(({ viewId, text, description, isChecked, boundsInScreen: { left, top } }) =>
      [viewId, text, description, isChecked, left, top].join(' '),
    )
    .join('\n');
