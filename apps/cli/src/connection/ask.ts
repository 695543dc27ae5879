import { createInterface } from 'node:readline/promises';
import { text } from 'node:stream/consumers';
import { Writable } from 'node:stream';

/** Asks on a terminal without showing what is typed; otherwise reads all of standard input. */
export async function readSecret(question: string): Promise<string> {
  if (!process.stdin.isTTY) return (await text(process.stdin)).trim();
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: process.stdin, output: silent, terminal: true });
  const closed = new Promise<string>((resolve) => reader.once('close', () => resolve('')));
  // Now that the terminal shows nothing of what is typed.
  process.stderr.write(question);
  try {
    return (await Promise.race([reader.question(''), closed])).trim();
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
