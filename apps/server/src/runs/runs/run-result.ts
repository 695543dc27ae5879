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

/** Reads a stored result; null when it can't be shown, which an earlier release did not check. */
export function readResult(json: string | null): unknown {
  return json === null || problemOfResult(json) !== undefined ? null : JSON.parse(json);
}
