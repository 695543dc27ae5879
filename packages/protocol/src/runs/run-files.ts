import { Type, type Static } from 'typebox';

import { EpochMs } from '../ids.ts';

/** Maximum number of files that one run may attach. */
export const maxRunFiles = 100;
/** Maximum size of a file in bytes, whatever the host allows. */
export const maxRunFileBytes = 1_000_000_000;
/** Maximum length of a file name in UTF-16 units. */
const maxNameLength = 200;
/** Maximum length of a file name in bytes, on the file systems of Linux, macOS and Windows. */
const maxNameBytes = 255;

export const RunFileName = Type.String({
  minLength: 1,
  maxLength: maxNameLength,
  description: 'File name, case-insensitive',
  examples: ['report.csv'],
});
/** Media type in the syntax of a header, without quotes. */
export const ContentType = Type.String({
  maxLength: 100,
  pattern: '^[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*(; ?charset=[A-Za-z0-9-]+)?$',
  description: 'Media type, such as `text/csv`',
  examples: ['text/csv'],
});

/** File that a run has attached. */
export const RunFile = Type.Object(
  {
    name: RunFileName,
    size_bytes: Type.Integer({ minimum: 0, maximum: maxRunFileBytes }),
    sha256: Type.String({ description: 'SHA-256 of the content, in hexadecimal digits' }),
    content_type: ContentType,
    created_at: EpochMs,
  },
  { title: 'RunFile' },
);
export type RunFile = Static<typeof RunFile>;

/**
 * Characters that a file system refuses or that make two names look alike, including control, format and unpaired
 * characters.
 */
const unsafe = /[\\/:*?"<>|\p{C}]/u;
/** Names of devices on Windows, with any extension. */
const reserved = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/i;
const badEdge = /^[.\s]|[.\s]$/u;

/** Returns the length in UTF-8 bytes. Outside Node and browsers, only URI encoding can determine it. */
const utf8Bytes = (text: string): number =>
  encodeURIComponent(text.toWellFormed()).replaceAll(/%[0-9A-F]{2}/g, '-').length;

/** Returns the reason why the text cannot be a file name on every file system, in words; undefined when it can. */
export function problemWithFileName(name: string): string | undefined {
  if (name.length === 0 || name.length > maxNameLength)
    return `A file name has 1 to ${maxNameLength} characters.`;
  if (utf8Bytes(name) > maxNameBytes) return `A file name has at most ${maxNameBytes} bytes of UTF-8.`;
  if (!name.isWellFormed() || unsafe.test(name))
    return String.raw`A file name has no control characters and none of \ / : * ? " < > |.`;
  if (badEdge.test(name)) return 'A file name does not begin or end with a dot or a space.';
  if (reserved.test(name)) return `${name} is the name of a device on Windows.`;
  return undefined;
}
