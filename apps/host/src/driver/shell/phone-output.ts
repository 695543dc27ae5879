/**
 * Rules for what a phone prints. Titles of windows, names of users, texts of notifications and versions of apps stand in it, so any
 * app may write into it, and a phone may print anything:
 *
 * - A command prints 64 KiB at most, unless its reader says why it may be more.
 * - It is read line by line. A line that is longer than any that Android prints is left out.
 * - An expression begins at the beginning of a line, or at a word that is no repetition, and no two open repetitions in it can take the
 *   same characters. `\s` goes over the ends of lines; `[ \t]` does not.
 *
 * `phone-output.test.ts` plays each reader with hostile output.
 */
export interface OutputBounds {
  /** Maximum output in bytes, by default 64 KiB. */
  readonly maxBytes?: number;
  /** Maximum length of a line in UTF-16 units, by default 1,000. */
  readonly maxLineLength?: number;
}

export const defaultOutput = { maxBytes: 64 * 1024, maxLineLength: 1000 } as const;

/** Lists of whatever is installed. */
export const longList: OutputBounds = { maxBytes: 1024 * 1024 };

/** Output without the lines that are too long. */
export function shortLines(
  text: string,
  { maxLineLength = defaultOutput.maxLineLength }: OutputBounds = {},
): string {
  if (text.length <= maxLineLength) return text;
  return text
    .split('\n')
    .filter((line) => line.length <= maxLineLength)
    .join('\n');
}
