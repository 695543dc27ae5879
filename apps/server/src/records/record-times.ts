const uuidV7 = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** The time in a UUIDv7 (RFC 9562, section 5.7), epoch ms; undefined for any other text. Lower case only. */
export function timeOfUuidV7(id: string): number | undefined {
  const match = uuidV7.exec(id);
  return match === null ? undefined : Number.parseInt(`${match[1]}${match[2]}`, 16);
}

const protectedMonths = 2;

/**
 * When a saved record of this time loses its protection, epoch ms: two calendar months later, UTC. Where the month has
 * no such day, its last one counts: 31 December → 28 (or 29) February.
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
