/** Returns the median; for an even number of values, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

interface Interleaved {
  figure: () => Promise<number>;
  baseline: () => Promise<number>;
  rounds: number;
}

/**
 * Measures figure and baseline alternately (A B A B ...), so that other load on the machine affects both, and takes
 * the medians. The first round of each is a warm-up and does not count.
 */
export async function interleave({ figure, baseline, rounds }: Interleaved): Promise<{
  figure: number;
  baseline: number;
}> {
  await figure();
  await baseline();
  const figures: number[] = [];
  const baselines: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    figures.push(await figure());
    baselines.push(await baseline());
  }
  return { figure: median(figures), baseline: median(baselines) };
}
