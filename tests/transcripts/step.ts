import type { Stage } from './stage.ts';

/** Header `origin` of a page of the server that is asked. */
export const ownOrigin = '<server>';

/** Details of a step beside its line. Each `$name` in a text stands for a value that was kept. */
export interface StepDetails {
  body?: unknown;
  /** A body that is sent as it is, of `contentType`. */
  raw?: string | Uint8Array<ArrayBuffer>;
  contentType?: string;
  headers?: Readonly<Record<string, string>>;
  /** The reply never ends by itself, and its beginning is enough. */
  isStream?: true;
  /** Values of the reply that later steps use: their places, by name. `header etag` is a header. */
  keep?: Readonly<Record<string, string>>;
  /**
   * Place of a value in the reply, and the value (or none: any), which all servers have to answer before the step is
   * played: for what happens by itself, and for what a server hears of another within a moment.
   */
  until?: readonly [place: string, value?: unknown];
}

/**
 * A request: `<caller> <operation> [<parameter of the path> …] [?<query>]`, or `<caller> <method> <path> [?<query>]` for what no
 * contract describes. The callers are those of the stage, `nobody`, and kept secrets. A function does what only hosts do.
 */
export type Step = string | readonly [line: string, details: StepDetails] | ((stage: Stage) => Promise<void>);

/** Steps that don't depend on those of other sections. */
export interface Section {
  readonly name: string;
  readonly steps: readonly Step[];
}
