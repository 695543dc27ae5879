import { createPlaceFinder, errorLine, type Place } from '../error-lines.ts';
import { settingsPath } from '../project-settings.ts';
import type { CheckerMessage } from './checker.ts';

type FindText = (path: string) => string | undefined;

/** The lines for a person, sorted by place. */
export function diagnosticLines(messages: readonly CheckerMessage[], findText: FindText): string[] {
  const finders = new Map<string, (offset: number) => Place>();
  const placeOf = (path: string, offset: number): Place => {
    const finder = finders.get(path) ?? createPlaceFinder(findText(path) ?? '');
    finders.set(path, finder);
    return finder(offset);
  };
  const lines = messages
    .toSorted(byPlace)
    .map(({ path, start, code, text }) =>
      path === undefined
        ? errorLine(settingsPath, undefined, text, code)
        : errorLine(path, placeOf(path, start), text, code),
    );
  return [...new Set(lines)];
}

function byPlace(one: CheckerMessage, other: CheckerMessage): number {
  const paths = [one.path ?? '', other.path ?? ''] as const;
  if (paths[0] !== paths[1]) return paths[0] < paths[1] ? -1 : 1;
  return one.start - other.start || one.code - other.code;
}
