import type { Inputs } from './call.ts';

/** Returns the path with its parameters, and the query. */
export function addressOf(path: string, { params = {}, query = {} }: Inputs): string {
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => segment(textOf(params[name])));
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  if (given.length === 0) return filled;
  return `${filled}?${new URLSearchParams(given.map(([name, value]) => [name, textOf(value)])).toString()}`;
}

const textOf = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : typeof value === 'number' || typeof value === 'boolean'
      ? String(value)
      : '';

/**
 * Encodes a segment of a path. A plain `.` or `..` would vanish from the URL, which would then name another endpoint.
 */
const segment = (text: string): string =>
  /^\.{1,2}$/.test(text) ? text.replaceAll('.', '%252E') : encodeURIComponent(text);
