import { preludeScriptName, userScriptName } from './script-names.ts';

const captureStackTrace = Error.captureStackTrace.bind(Error);
const needle = `${userScriptName}:`;

/** The stack above `below`, as V8 writes it, whatever user code did to `Error`. */
export function stackAbove(below: (...args: never[]) => unknown): string {
  const { stackTraceLimit, prepareStackTrace } = Error;
  try {
    Error.stackTraceLimit = 30;
    Error.prepareStackTrace = undefined;
    const holder = { stack: '' };
    captureStackTrace(holder, below);
    return String(holder.stack);
  } catch {
    return '';
  } finally {
    restore(stackTraceLimit, prepareStackTrace);
  }
}

function restore(limit: number, prepare: typeof Error.prepareStackTrace): void {
  try {
    Error.stackTraceLimit = limit;
    Error.prepareStackTrace = prepare;
  } catch {
    // Frozen by user code: there is nothing to restore.
  }
}

/** `line:column` of the first frame in the user's script, empty when there is none. */
export function userPosition(stack: string): string {
  const start = stack.indexOf(needle);
  if (start < 0) return '';
  const rest = stack.slice(start + needle.length, start + needle.length + 24);
  return /^\d+:\d+/.exec(rest)?.[0] ?? '';
}

/** A stack without the frames of the prelude. */
export function withoutPrelude(stack: string): string {
  return stack
    .split('\n')
    .filter((line) => !line.includes(preludeScriptName))
    .join('\n');
}
