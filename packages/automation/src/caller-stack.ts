import { preludeScriptName, userScriptName } from './script-names.ts';

const captureStackTrace = Error.captureStackTrace.bind(Error);
const needle = `${userScriptName}:`;
// Taken before user code can patch them.
/* oxlint-disable typescript/unbound-method -- called with a receiver */
const { call } = Function.prototype;
const indexOf: (text: string, part: string) => number = call.bind(String.prototype.indexOf);
const slice: (text: string, start: number, end: number) => string = call.bind(String.prototype.slice);
const exec: (pattern: RegExp, text: string) => RegExpExecArray | null = call.bind(RegExp.prototype.exec);
/* oxlint-enable typescript/unbound-method */

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
  const start = indexOf(stack, needle);
  if (start < 0) return '';
  const rest = slice(stack, start + needle.length, start + needle.length + 24);
  return exec(/^\d+:\d+/, rest)?.[0] ?? '';
}

/** A stack without the frames of the prelude. */
export function withoutPrelude(stack: string): string {
  return stack
    .split('\n')
    .filter((line) => !line.includes(preludeScriptName))
    .join('\n');
}
