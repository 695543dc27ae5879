/** For options that may be given several times. */
export const repeated = (value: string, before: readonly string[]): string[] => [...before, value];
