const protectedMonths = 2;

/**
 * Returns the time (epoch ms) at which a saved record loses its protection: two calendar months after `addedAt`, UTC.
 * When that month lacks the day, its last day counts: 31 December → 28 (or 29) February.
 */
export function protectionEnd(addedAt: number): number {
  const end = new Date(addedAt);
  const day = end.getUTCDate();
  end.setUTCDate(1);
  end.setUTCMonth(end.getUTCMonth() + protectedMonths);
  const lastDay = new Date(Date.UTC(end.getUTCFullYear(), end.getUTCMonth() + 1, 0)).getUTCDate();
  end.setUTCDate(Math.min(day, lastDay));
  return end.getTime();
}
