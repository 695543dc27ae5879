import { preludeScriptName, userScriptName } from '@phalanx/automation';
import { maxSourcePathLength, type SandboxLogEntry } from '@phalanx/protocol';
import { originalPositionFor, TraceMap } from '@jridgewell/trace-mapping';

/** Maps positions of the bundled script to the user's files. */
export interface SourcePositions {
  /** Returns the place in the user's files of a `line:column` in the script. */
  placeAt(position: string): SourcePlace;
  /** Returns the place of the first position in a text. */
  firstPlaceIn(text: string): SourcePlace;
  /** Replaces the script's positions in a text, and removes frames outside the user's code. */
  mapText(text: string): string;
}

/** Place as in log entries; line 0 without a path when unknown. */
export type SourcePlace = Pick<SandboxLogEntry, 'path' | 'lineNumber'>;

const noPlace: SourcePlace = { path: null, lineNumber: 0 };

/** File name of a script without a source map. */
const scriptFile = 'main.js';
const scriptPosition = new RegExp(`${userScriptName}:(\\d+):(\\d+)`, 'g');
/** Stack frames of the prelude, and of the promises in between. */
const foreignFrame = new RegExp(`\\n +at .*(?:${preludeScriptName}|\\(<anonymous>\\)$).*`, 'gm');

export function createSourcePositions(sourceMap: string | null): SourcePositions {
  const map = parse(sourceMap);
  const find = (line: number, column: number): { path: string | null; line: number; column: number } => {
    const found = map && originalPositionFor(map, { line, column: Math.max(0, column - 1) });
    if (typeof found?.source !== 'string') return { path: null, line, column };
    return { path: found.source, line: found.line, column: found.column + 1 };
  };
  const placeAt = (position: string): SourcePlace => {
    const [line = 0, column = 1] = position.split(':').map(Number);
    if (!(line > 0)) return noPlace;
    const found = find(line, column);
    const isNamed = found.path !== null && found.path.length <= maxSourcePathLength;
    return { path: isNamed ? found.path : null, lineNumber: found.line };
  };
  return {
    placeAt,
    firstPlaceIn: (text) => placeAt(text.match(scriptPosition)?.[0].slice(userScriptName.length + 1) ?? ''),
    mapText: (text) =>
      text.includes(userScriptName) || text.includes(preludeScriptName)
        ? text.replaceAll(foreignFrame, '').replaceAll(scriptPosition, (_, line: string, column: string) => {
            const place = find(Number(line), Number(column));
            return `${place.path ?? scriptFile}:${place.line}:${place.column}`;
          })
        : text,
  };
}

/** Parses the source map. An unreadable map only disables the mapping, so the run continues. */
function parse(sourceMap: string | null): TraceMap | undefined {
  try {
    return sourceMap === null ? undefined : new TraceMap(sourceMap);
  } catch {
    return undefined;
  }
}
