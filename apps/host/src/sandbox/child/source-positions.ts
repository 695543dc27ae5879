import { preludeScriptName, userScriptName } from '@phalanx/automation';
import { originalPositionFor, TraceMap } from '@jridgewell/trace-mapping';

/** Turns positions of the bundled script into those of the user's files. */
export interface SourcePositions {
  /** Line in the user's file of a `line:column` in the script; 0 when there is none. */
  lineAt(position: string): number;
  /** The line of the first position that a text names; 0 when it names none. */
  firstLineIn(text: string): number;
  /** The text with the script's positions replaced, and without frames that are not the user's. */
  mapText(text: string): string;
}

/** The name of a script without a source map. */
const scriptFile = 'main.js';
const scriptPosition = new RegExp(`${userScriptName}:(\\d+):(\\d+)`, 'g');
/** Frames of the prelude, and of the promises in between. */
const foreignFrame = new RegExp(`\\n +at .*(?:${preludeScriptName}|\\(<anonymous>\\)$).*`, 'gm');

export function createSourcePositions(sourceMap: string | null): SourcePositions {
  const map = parse(sourceMap);
  const find = (line: number, column: number): { file: string; line: number; column: number } => {
    const found = map && originalPositionFor(map, { line, column: Math.max(0, column - 1) });
    if (!found || found.source === null) return { file: scriptFile, line, column };
    return { file: found.source, line: found.line, column: found.column + 1 };
  };
  const lineAt = (position: string): number => {
    const [line = 0, column = 1] = position.split(':').map(Number);
    return line > 0 ? find(line, column).line : 0;
  };
  return {
    lineAt,
    firstLineIn: (text) => lineAt(text.match(scriptPosition)?.[0].slice(userScriptName.length + 1) ?? ''),
    mapText: (text) =>
      text.includes(userScriptName) || text.includes(preludeScriptName)
        ? text.replaceAll(foreignFrame, '').replaceAll(scriptPosition, (_, line: string, column: string) => {
            const place = find(Number(line), Number(column));
            return `${place.file}:${place.line}:${place.column}`;
          })
        : text,
  };
}

/** A map that can't be read costs the mapping, not the run. */
function parse(sourceMap: string | null): TraceMap | undefined {
  try {
    return sourceMap === null ? undefined : new TraceMap(sourceMap);
  } catch {
    return undefined;
  }
}
