/** Lets `perSecond` units through on average and `burst` at once. */
export function createTokenBucket(perSecond: number, burst: number, now = (): number => performance.now()) {
  let tokens = burst;
  let filledAt = now();

  /** Takes `count` units and returns how long the taker must wait, in milliseconds. */
  return function take(count: number): number {
    const time = now();
    tokens = Math.min(burst, tokens + ((time - filledAt) / 1000) * perSecond);
    filledAt = time;
    tokens -= count;
    return tokens >= 0 ? 0 : (-tokens / perSecond) * 1000;
  };
}
