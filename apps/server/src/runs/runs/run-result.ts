import { findExcess } from '../../http/requests/bodies/json-bounds.ts';

/** Tells what is wrong with JSON that code or a host has given as a result, as the end of a sentence; undefined: nothing. */
export function problemOfResult(json: string): string | undefined {
  const excess = findExcess(Buffer.from(json));
  if (excess !== undefined) return excess;
  try {
    JSON.parse(json);
    return undefined;
  } catch {
    return 'is not JSON';
  }
}

/** A result as it was stored; null for one that is nothing to be shown, of an earlier release that did not look. */
export function readResult(json: string | null): unknown {
  return json === null || problemOfResult(json) !== undefined ? null : JSON.parse(json);
}
