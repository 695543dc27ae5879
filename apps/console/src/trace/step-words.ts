import type { RunStep } from '@phalanx/protocol';

/** Such as `40 ms`, `1.2 s`, `64 s`. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${ms} ms`;
  return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
}

/** What the step acted on. */
export function targetOf({ target, point, swipe }: RunStep): string {
  if (target !== undefined) return target;
  if (point !== undefined) return point.join(', ');
  return swipe === undefined ? '' : `${swipe.slice(0, 2).join(', ')} → ${swipe.slice(2).join(', ')}`;
}

/** Where the call stands in the source; undefined for code without a place. */
export function placeOf({ path, line_number: line }: RunStep): string | undefined {
  if (line === 0) return undefined;
  return path === null ? `line ${line}` : `${path}:${line}`;
}
