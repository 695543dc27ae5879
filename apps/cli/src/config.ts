/** The environment as it is; nothing else of the CLI reads it. */
export const environment: Readonly<Record<string, string | undefined>> = process.env;
