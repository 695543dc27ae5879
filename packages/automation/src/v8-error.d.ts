/** Members that V8 adds to `Error`. The prelude uses them; the types for users leave them out. */
interface ErrorConstructor {
  isError: (value: unknown) => boolean;
  prepareStackTrace: unknown;
}
