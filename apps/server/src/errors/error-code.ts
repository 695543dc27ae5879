/** The `code` of an error of the system, of SQLite or of Fastify, such as `ENOENT`; empty for any other. */
export const errorCodeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
