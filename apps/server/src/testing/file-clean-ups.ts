const cleanUps: (() => Promise<unknown>)[] = [];

/** Runs when the tests of this file have ended, the last one first. Test files share the modules of their worker. */
export function afterThisFile(cleanUp: () => Promise<unknown>): void {
  cleanUps.push(cleanUp);
}

export async function cleanUpFile(): Promise<void> {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
}
