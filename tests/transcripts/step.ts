import type { Stage } from './stage.ts';

/** Stands for the header `origin` of the called server's own pages. */
export const ownOrigin = '<server>';

/** Details of a step in addition to its line. Each `$name` in a text is replaced by a kept value. */
export interface StepDetails {
  body?: unknown;
  /** Body that is sent unmodified, of type `contentType`. */
  raw?: string | Uint8Array<ArrayBuffer>;
  contentType?: string;
  headers?: Readonly<Record<string, string>>;
  /** Whether the reply is endless, so that its beginning suffices. */
  isStream?: true;
  /** Values of the reply that later steps use: paths by name. `header etag` means a header. */
  keep?: Readonly<Record<string, string>>;
  /**
   * Path of a value in the reply, and its expected value (any by default), that all servers must return before the
   * step is played. Covers changes that happen by themselves or that servers learn from each other with a delay.
   */
  until?: readonly [place: string, value?: unknown];
}

/**
 * Request: `<caller> <operation> [<parameter of the path> …] [?<query>]`, or `<caller> <method> <path> [?<query>]`
 * for requests that no contract describes. The callers are those of the stage, `nobody`, and kept secrets. A function
 * performs actions that only hosts can do.
 */
export type Step = string | readonly [line: string, details: StepDetails] | ((stage: Stage) => Promise<void>);

/** Steps that do not depend on other sections. */
export interface Section {
  readonly name: string;
  readonly steps: readonly Step[];
}
