import { preludeScriptName } from '../script-names.ts';

// oxlint-disable-next-line typescript/unbound-method -- called with apply
const errorToString = Error.prototype.toString;
const { apply } = Reflect;

/** As many as V8 takes without being told. */
const shownFrames = 10;
/** And those of the prelude: a call of `agent` has some eight above user code. */
const takenFrames = 20;

/**
 * Stacks as V8 writes them, but without the frames of the prelude, so that what users see begins in their own code.
 * Without this, printed causes would count hidden frames as lines in common.
 */
export function hidePreludeFrames(): void {
  Error.stackTraceLimit = takenFrames;
  Error.prepareStackTrace = (error: unknown, sites: readonly unknown[]): string => {
    let text = headOf(error);
    // Whoever has set another limit gets what they asked for.
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
