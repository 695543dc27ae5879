/** Share of bad items. */
interface Share {
  readonly bad: number;
  readonly all: number;
}

/**
 * Computes Fisher's exact test, one-sided: the probability that the first share has at least this many of the bad items
 * if both shares are equal.
 */
export function fisher(one: Share, other: Share): number {
  const bad = one.bad + other.bad;
  const max = Math.min(bad, one.all);
  let term = Math.exp(
    logChoose(one.all, one.bad) + logChoose(other.all, other.bad) - logChoose(one.all + other.all, bad),
  );
  let sum = 0;
  for (let count = one.bad; count <= max; count += 1) {
    sum += term;
    // Terms beyond the peak decrease ever faster.
    if (count > (bad * one.all) / (one.all + other.all) && term < sum * 1e-12) break;
    term *= ((one.all - count) * (bad - count)) / ((count + 1) * (other.all - bad + count + 1));
  }
  return Math.min(1, sum);
}

const logChoose = (all: number, some: number): number =>
  logFactorial(all) - logFactorial(some) - logFactorial(all - some);

/** Uses Stirling's series, which is accurate to ten digits from 16 on. */
function logFactorial(number: number): number {
  if (number < 16) {
    let product = 1;
    for (let factor = 2; factor <= number; factor += 1) product *= factor;
    return Math.log(product);
  }
  const n = number + 1;
  return (
    (n - 0.5) * Math.log(n) -
    n +
    Math.log(2 * Math.PI) / 2 +
    1 / (12 * n) -
    1 / (360 * n ** 3) +
    1 / (1260 * n ** 5)
  );
}
