/** A finding of the compiler at its place; line and column count from 1. */
export interface Finding {
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly severity: 'error' | 'warning';
}

/** Reads lines such as `main.ts(3,7): error TS2305: …`. */
export function readFindings(lines: readonly string[], severity: Finding['severity']): Finding[] {
  return lines.flatMap((text) => {
    const match = /^(.+?)(?:\((\d+),(\d+)\))?: error (TS\d+: [^]*)$/.exec(text);
    if (match === null) return [];
    const [, path = '', line = '1', column = '1', message = ''] = match;
    return [{ path, line: Number(line), column: Number(column), message, severity }];
  });
}
