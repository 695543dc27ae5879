/** What else V8 adds to `Error`; the prelude uses it, the types for users leave it out. */
interface ErrorConstructor {
  isError: (value: unknown) => boolean;
  prepareStackTrace: unknown;
}
