/**
 * Rules for the output of a phone. It contains titles of windows, names of users, texts of notifications and versions
 * of apps, so any app may write into it, and a phone may print anything:
 *
 * - A command prints at most 64 KiB, unless its reader says why it may print more.
 * - Output is parsed line by line. A line that is longer than any that Android prints is dropped.
 * - A regular expression begins at the start of a line, or at a word that is no repetition, and no two open repetitions
 *   in it can match the same characters. `\s` crosses the ends of lines; `[ \t]` does not.
 *
 * `phone-output.test.ts` feeds hostile output to each reader.
 */
export interface OutputBounds {
  /** Maximum output in bytes, by default 64 KiB. */
  readonly maxBytes?: number;
  /** Maximum length of a line in UTF-16 units, by default 1,000. */
  readonly maxLineLength?: number;
}

export const defaultOutput = { maxBytes: 64 * 1024, maxLineLength: 1000 } as const;

/** Bounds for lists of everything that is installed. */
export const longList: OutputBounds = { maxBytes: 1024 * 1024 };

/** Returns the output without the lines that are too long. */
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
