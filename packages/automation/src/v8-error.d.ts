/** What V8 adds to `Error`; the prelude uses it, the types for users leave it out. */
interface ErrorConstructor {
  captureStackTrace(target: object, below?: (...args: never[]) => unknown): void;
  isError: (value: unknown) => boolean;
  stackTraceLimit: number;
  prepareStackTrace: unknown;
}
