const protectedMonths = 2;

/**
 * Time at which a saved record of this time loses its protection, epoch ms: two calendar months later, UTC. When the
 * month has no such day, its last one counts: 31 December → 28 (or 29) February.
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
