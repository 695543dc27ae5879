import { hash } from 'node:crypto';

/** Code that is ready for the sandbox: one script without imports, and the way back to the user's lines. */
export interface Bundle {
  readonly code: string;
  /** JSON of a version 3 source map. */
  readonly sourceMap: string | null;
  /** Hash of both: a host that has it is not sent it again. */
  readonly hash: string;
}

export function bundleOf({ code, sourceMap }: Pick<Bundle, 'code' | 'sourceMap'>): Bundle {
  return { code, sourceMap, hash: hash('sha256', JSON.stringify([code, sourceMap]), 'hex') };
}
