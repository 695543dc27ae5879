export interface ByteRange {
  /** From 0; both ends inclusive. */
  first: number;
  last: number;
}

/**
 * The part that a `Range` header asks for (RFC 9110, section 14). `whole`: there is no such header, or it is one that
 * may be ignored: malformed, of other units, of several parts. `unsatisfiable`: the part lies outside.
 */
export function parseRange(
  header: string | undefined,
  sizeBytes: number,
): ByteRange | 'whole' | 'unsatisfiable' {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '');
  const [, from, to] = match ?? [];
  if (from === undefined || to === undefined || (from === '' && to === '')) return 'whole';
  if (from === '') return lastBytes(Number(to), sizeBytes);
  if (to !== '' && Number(to) < Number(from)) return 'whole';
  if (Number(from) >= sizeBytes) return 'unsatisfiable';
  return { first: Number(from), last: Math.min(to === '' ? Infinity : Number(to), sizeBytes - 1) };
}

function lastBytes(count: number, sizeBytes: number): ByteRange | 'unsatisfiable' {
  if (count === 0 || sizeBytes === 0) return 'unsatisfiable';
  return { first: Math.max(0, sizeBytes - count), last: sizeBytes - 1 };
}
