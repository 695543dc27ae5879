const units: readonly (readonly [name: string, ms: number])[] = [
  ['d', 24 * 60 * 60 * 1000],
  ['h', 60 * 60 * 1000],
  ['min', 60 * 1000],
];

/** Formats a duration such as `3 min`. Below a minute it is in seconds, below ten seconds with a fraction. */
export function formatDuration(durationMs: number): string {
  const ms = Math.max(0, durationMs);
  const unit = units.find(([, size]) => ms >= size);
  if (unit !== undefined) return `${Math.floor(ms / unit[1])} ${unit[0]}`;
  return `${ms < 10_000 ? (ms / 1000).toFixed(1) : Math.floor(ms / 1000)} s`;
}

/** Formats the time since a moment, which is in epoch milliseconds. */
export const formatAge = (epochMs: number): string => formatDuration(Date.now() - epochMs);
