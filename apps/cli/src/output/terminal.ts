import { createInterface } from 'node:readline/promises';
import { text as readAllOf } from 'node:stream/consumers';
import { Writable } from 'node:stream';

import { CommandError, exitCodes } from '../exit-codes.ts';

/** Prints a notice for the user to standard error, apart from the output of the command. */
export function notice(text: string): void {
  console.error(printable(withNames(text)));
}

/** Prints the message of a server's reply as the output of the command. */
export function printMessage({ message }: { message: string }): void {
  console.log(printable(withNames(message)));
}

const names = new Map<string, string>();

/** Adds a name to its ID in later messages. Users type serial numbers and names, but the server's messages have IDs. */
export function rememberName(id: string, name: string): void {
  if (name !== id) names.set(id, name);
}

/** Adds the known names to the IDs of a message: `device 01a1…` → `device SIM0001 (01a1…)`. */
export function withNames(message: string): string {
  let text = message;
  for (const [id, name] of names) if (text.includes(id)) text = text.replaceAll(id, `${name} (${id})`);
  return text;
}

// oxlint-disable-next-line no-control-regex
const control = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u2028\u2029\u202A-\u202E\u2066-\u2069]/g;

const escaped = (character: string): string => {
  const code = character.codePointAt(0) ?? 0;
  return code < 0x100
    ? `\\x${code.toString(16).padStart(2, '0')}`
    : `\\u${code.toString(16).padStart(4, '0')}`;
};

/**
 * Makes a text of phones, users and servers safe for a terminal. Characters that would move the cursor, change colours
 * or turn the text direction become escapes. Line feeds and tabs stay.
 */
export const printable = (text: string): string => text.replaceAll(control, escaped);

/** Makes a text safe for a terminal, on one line. */
export const printableLine = (text: string): string =>
  printable(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');

/** Quotes a word of a command line that users may paste into a shell. */
export const quoted = (word: string): string =>
  /^[\w./:=@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** Prompts on a terminal without showing the input. Without a terminal, reads all of standard input. */
export async function readSecret(question: string): Promise<string> {
  if (!process.stdin.isTTY) return (await readAllOf(process.stdin)).trim();
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: process.stdin, output: silent, terminal: true });
  const closed = new Promise<string>((resolve) => reader.once('close', () => resolve('')));
  const interrupted = new Promise<never>((_, reject) => {
    reader.once('SIGINT', () => reject(new CommandError(exitCodes.interrupted, 'Interrupted.')));
  });
  // Printed only now, when the terminal no longer shows the input.
  process.stderr.write(question);
  try {
    return (await Promise.race([reader.question(''), interrupted, closed])).trim();
  } finally {
    reader.close();
    process.stderr.write('\n');
  }
}

/** Whether the user confirms at a terminal. False without a terminal. */
export async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return false;
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  const closed = new Promise<string>((resolve) => reader.once('close', () => resolve('')));
  try {
    const answer = await Promise.race([reader.question(`${question} [y/N] `), closed]);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    reader.close();
  }
}
