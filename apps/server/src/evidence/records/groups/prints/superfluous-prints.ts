import { type GroupedScreen, likeness } from './nearest-group.ts';

/** Screen that a group keeps or could keep. */
export interface KeptSample extends GroupedScreen {
  appVersion: string | null;
  /** Time at which the screen was added, epoch ms. */
  addedAt: number;
}

/**
 * Finds the screen that a group with one screen too many can drop: the older one of the two most similar screens. Two
 * screens of one language and app version are dropped before two of one language, and these before any other two. The
 * remaining screens have as many languages and versions as possible.
 */
export function findSuperfluous<Sample extends KeptSample>(samples: readonly Sample[]): Sample | undefined {
  const pairs = samples.flatMap((one, index) =>
    samples.slice(index + 1).map((other) => [one, other] as const),
  );
  const isOfCell = ([one, other]: readonly [Sample, Sample]): boolean =>
    one.language === other.language && one.appVersion === other.appVersion;
  const candidates = [
    pairs.filter(isOfCell),
    pairs.filter(([one, other]) => one.language === other.language),
    pairs,
  ].find(({ length }) => length > 0);
  const [closest] = (candidates ?? [])
    .map((pair) => ({ pair, likeness: likeness(pair[0].print, pair[1].print) }))
    .toSorted((a, b) => b.likeness - a.likeness);
  return closest?.pair.toSorted((a, b) => a.addedAt - b.addedAt)[0];
}
