import { SourceMap } from 'node:module';

/** What a line of the generated code comes from, by the first mapping in it. Lines count from 1. */
export function findLineOfMap(sourceMap: string, line: number): { source: string; line: number } | undefined {
  const map = new SourceMap(JSON.parse(sourceMap));
  const entry = map.findEntry(line - 1, 4);
  if (!('originalSource' in entry)) return undefined;
  return { source: entry.originalSource, line: entry.originalLine + 1 };
}
