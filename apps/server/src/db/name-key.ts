/** What two names have in common when people would take them for the same. Stored in columns with a unique index. */
export const nameKey = (name: string): string => name.normalize('NFKC').toLowerCase();

/** The condition's value for a part of a name, for `LIKE … ESCAPE '\'`. */
export const namePattern = (part: string): string =>
  `%${nameKey(part).replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
