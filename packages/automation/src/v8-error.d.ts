/** Members that V8 adds to `Error` besides; the prelude uses it, the types for users leave it out. */
interface ErrorConstructor {
  isError: (value: unknown) => boolean;
  prepareStackTrace: unknown;
}
