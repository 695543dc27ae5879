import { preludeScriptName } from '../script-names.ts';

// oxlint-disable-next-line typescript/unbound-method -- called with apply
const errorToString = Error.prototype.toString;
const { apply } = Reflect;

/**
 * Stacks as V8 writes them, but without the frames of the prelude, so that what users see begins in their own code.
 * Without this, printed causes would count hidden frames as lines in common.
 */
export function hidePreludeFrames(): void {
  Error.prepareStackTrace = (error: unknown, sites: readonly unknown[]): string => {
    let text = headOf(error);
    for (let index = 0; index < sites.length; index += 1) {
      const frame = String(sites[index]);
      if (!frame.includes(preludeScriptName)) text += `\n    at ${frame}`;
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
