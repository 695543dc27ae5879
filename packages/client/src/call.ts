/** Properties of a contract that a call needs. */
export interface Endpoint {
  readonly method: string;
  /** Path with `:name` for each parameter. */
  readonly path: string;
  /** Content types of a request body that is not JSON. */
  readonly bodyTypes?: readonly string[];
  /** Reply of each success status: its schema, or the content types of a body that is not JSON. Default: JSON. */
  readonly responses?: Readonly<Record<number, object>>;
}

export interface Inputs {
  readonly params?: Readonly<Record<string, unknown>> | undefined;
  readonly query?: object | undefined;
  readonly headers?: object | undefined;
  readonly body?: unknown;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Timeout of the response's start, and of its end when it is JSON, in milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** Time for retries of the call, in milliseconds. Default: that of the client. */
  readonly retryForMs?: number | undefined;
  /**
   * Whether the call is idempotent: the service executes it once however often it is sent. Default: true for a read and
   * for a launch with an ID.
   */
  readonly isIdempotent?: boolean | undefined;
}
