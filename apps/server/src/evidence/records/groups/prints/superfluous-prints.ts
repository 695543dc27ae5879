import { type GroupedScreen, likeness } from './nearest-group.ts';

/** A screen that a group keeps, or could keep. */
export interface KeptSample extends GroupedScreen {
  appVersion: string | null;
  /** Milliseconds. */
  addedAt: number;
}

/**
 * The screen that a group misses least, where it has one too many: the older one of the two that are most alike. Two of
 * one language and one version of the app go before two of one language, and these before any two: what stays has as
 * many languages and versions as there is room for.
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
