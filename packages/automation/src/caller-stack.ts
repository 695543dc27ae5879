import { preludeScriptName, userScriptName } from './script-names.ts';

const captureStackTrace = Error.captureStackTrace.bind(Error);
const needle = `${userScriptName}:`;
// Captured before user code can patch them.
/* oxlint-disable typescript/unbound-method -- called with a receiver */
const { call } = Function.prototype;
const indexOf: (text: string, part: string) => number = call.bind(String.prototype.indexOf);
const slice: (text: string, start: number, end: number) => string = call.bind(String.prototype.slice);
const exec: (pattern: RegExp, text: string) => RegExpExecArray | null = call.bind(RegExp.prototype.exec);
/* oxlint-enable typescript/unbound-method */

/** Returns the stack above `below` in V8's format, regardless of changes to `Error` by user code. */
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
    // User code has frozen `Error`, so there is nothing to restore.
  }
}

/** Returns `line:column` of the first frame in the user's script; empty if there is none. */
export function userPosition(stack: string): string {
  const start = indexOf(stack, needle);
  if (start < 0) return '';
  const rest = slice(stack, start + needle.length, start + needle.length + 24);
  return exec(/^\d+:\d+/, rest)?.[0] ?? '';
}

/** Returns a stack without frames of the prelude. */
export function withoutPrelude(stack: string): string {
  return stack
    .split('\n')
    .filter((line) => !line.includes(preludeScriptName))
    .join('\n');
}

// oxlint-disable-next-line typescript/unbound-method -- called with apply
const errorToString = Error.prototype.toString;
const { apply } = Reflect;

/** Number of frames shown to users; V8's default of `Error.stackTraceLimit`. */
const shownFrames = 10;
/** Number of frames captured: a call of `agent` has about eight prelude frames above user code. */
const takenFrames = 20;

/**
 * Formats stacks like V8 but hides frames of the prelude, so that users see only their own code. Otherwise printed
 * causes would count hidden frames as common lines.
 */
export function hidePreludeFrames(): void {
  Error.stackTraceLimit = takenFrames;
  Error.prepareStackTrace = (error: unknown, sites: readonly unknown[]): string => {
    let text = headOf(error);
    // User code that has set another limit gets that number of frames.
    let left = Error.stackTraceLimit === takenFrames ? shownFrames : Infinity;
    for (let index = 0; index < sites.length && left > 0; index += 1) {
      const frame = String(sites[index]);
      if (frame.includes(preludeScriptName)) continue;
      text += `\n    at ${frame}`;
      left -= 1;
    }
    return text;
  };
}

function headOf(error: unknown): string {
  try {
    return apply(errorToString, error, []);
  } catch {
    return 'Error';
  }
}
