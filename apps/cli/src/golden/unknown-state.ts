/** All ways to write "unknown" mean the same. */
export const isUnknownState = (state: string): boolean => state.toLowerCase() === 'unknown';
