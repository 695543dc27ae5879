/** Returns the message of an error. Anything else that was thrown becomes a text. */
export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error));
