import { createInterface } from 'node:readline/promises';
import { text as readAllOf } from 'node:stream/consumers';
import { Writable } from 'node:stream';

import { CommandError, exitCodes } from '../exit-codes.ts';

/** For people, beside what the command puts out: on standard error. */
export function notice(text: string): void {
  console.error(printable(withNames(text)));
}

/** Prints a server's answer in words as the output of the command. */
export function printMessage({ message }: { message: string }): void {
  console.log(printable(withNames(message)));
}

const names = new Map<string, string>();

/** People type serials and names, and the server speaks of IDs: from now on both are shown. */
export function rememberName(id: string, name: string): void {
  if (name !== id) names.set(id, name);
}

/** `device 01a1…` → `device SIM0001 (01a1…)`. */
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
 * Text of phones, users and servers as it may reach a terminal: what would move the cursor, change colours or turn
 * the direction of writing is shown as an escape. Line feeds and tabs stay.
 */
export const printable = (text: string): string => text.replaceAll(control, escaped);

/** The same on one line. */
export const printableLine = (text: string): string =>
  printable(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');

/** A word of a command line that people may paste into a shell. */
export const quoted = (word: string): string =>
  /^[\w./:=@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** Asks on a terminal without showing what is typed; otherwise reads all of standard input. */
export async function readSecret(question: string): Promise<string> {
  if (!process.stdin.isTTY) return (await readAllOf(process.stdin)).trim();
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: process.stdin, output: silent, terminal: true });
  const closed = new Promise<string>((resolve) => reader.once('close', () => resolve('')));
  const interrupted = new Promise<never>((_, reject) => {
    reader.once('SIGINT', () => reject(new CommandError(exitCodes.interrupted, 'Interrupted.')));
  });
  // Now that the terminal shows nothing of what is typed.
  process.stderr.write(question);
  try {
    return (await Promise.race([reader.question(''), interrupted, closed])).trim();
  } finally {
    reader.close();
    process.stderr.write('\n');
  }
}

/** Whether somebody at a terminal says yes. Without a terminal nobody does. */
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
