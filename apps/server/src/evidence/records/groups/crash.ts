import { createHash } from 'node:crypto';
import type { GroupError } from '@phalanx/protocol';

import { readError } from '../record-view.ts';
import type { StoredRecord } from '../stored-record.ts';

const mark = 'crash ';
const keyLetters = 24;
const maxMessageLength = 1000;
const maxNameLength = 200;

/** Whether the key of a print identifies a crash. Such a print represents an error, and its screen is not compared. */
export const isKeyOfCrash = (printKey: string): boolean => printKey.startsWith(mark);

/** Error of a crash, with the key that all records of the same error at the same place share. */
interface Crash {
  readonly key: string;
  readonly error: GroupError;
}

/** Reads the crash of a record. Returns undefined when the record is not a crash or has no error. */
export function crashOf({ type, error: json }: Pick<StoredRecord, 'type' | 'error'>): Crash | undefined {
  const error = type === 'crash' ? readError(json) : null;
  if (error === null) return undefined;
  const { code, message, stack } = error;
  const name = nameOf(stack) ?? code;
  const firstLine = message.trim().split('\n', 1)[0] ?? '';
  const line = firstLine.startsWith(`${name}: `) ? firstLine.slice(name.length + 2) : firstLine;
  const place = placeOf(stack);
  const parts = [code, name, withoutNumbers(firstSentence(line)), place?.file ?? '', place?.function ?? ''];
  const hash = createHash('sha256').update(parts.join('\0')).digest('base64url');
  return {
    key: mark + hash.slice(0, keyLetters),
    error: {
      name: name.slice(0, maxNameLength).toWellFormed(),
      message: line.slice(0, maxMessageLength).toWellFormed(),
      place: place === undefined ? null : `${place.file}:${place.line}`,
    },
  };
}

/**
 * Returns the first sentence. The message of a wait gives its counts and pauses after it. A dot within a number ends no
 * sentence.
 */
export const firstSentence = (text: string): string => /^.*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text;

/** Replaces numbers and hexadecimal IDs, which may contain letters, with `#`. */
const withoutNumbers = (text: string): string => text.replaceAll(/\b(?=[\da-f]*\d)[\da-f]{8,}\b|\d+/gi, '#');

/** Returns the name of the error, such as `TypeError`, with which JavaScript begins a stack. */
const nameOf = (stack: string | null | undefined): string | undefined =>
  /^(?:Uncaught )?([\p{L}_$][\p{L}\p{N}_$]*)(?::|\n|$)/u.exec(stack ?? '')?.[1];

interface Place {
  readonly file: string;
  readonly line: string;
  /** Name of the function; empty at the top level of a file. */
  readonly function: string;
}

/**
 * Finds the first line of the user's code in a stack: `at pay (flows/pay.ts:12:5)`. Lines and columns change with each
 * edit of the file.
 */
function placeOf(stack: string | null | undefined): Place | undefined {
  for (const text of (stack ?? '').split('\n')) {
    const [, name = '', file, line] = /^\s*at (?:(.*) \()?([^()\s]+):(\d+):\d+\)?$/.exec(text) ?? [];
    if (file !== undefined && line !== undefined) return { file, line, function: name };
  }
  return undefined;
}
