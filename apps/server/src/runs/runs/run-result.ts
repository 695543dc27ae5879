import { findExcess } from '../../http/requests/bodies/json-bounds.ts';

/**
 * Returns what is wrong with the JSON of a result from code or a host, as the end of a sentence; undefined when it is
 * valid.
 */
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

/** Parses a stored result; null when it is invalid, because an earlier release did not check results. */
export function readResult(json: string | null): unknown {
  return json === null || problemOfResult(json) !== undefined ? null : JSON.parse(json);
}
