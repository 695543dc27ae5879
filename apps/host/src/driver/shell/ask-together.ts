import { randomBytes } from 'node:crypto';

import { shortLines, defaultOutput } from './phone-output.ts';
import type { PhoneShell } from './phone-shell.ts';

/**
 * Puts several questions to a phone in one command, since each way there and back costs more than what is printed. Returns what each
 * printed, all of it. Between them stands a mark that is new in each call: no text of an app can hold it.
 */
export async function askWhole(
  shell: PhoneShell,
  questions: readonly string[],
  signal: AbortSignal,
  maxBytes: number = defaultOutput.maxBytes,
): Promise<string[]> {
  const mark = `phalanx-${randomBytes(12).toString('hex')}`;
  const { stdout } = await shell.runWhole(questions.join(`; echo ${mark}; `), signal, maxBytes);
  return stdout.split(`${mark}\n`);
}

/** The same without the lines that are too long for an expression. */
export async function askTogether(
  shell: PhoneShell,
  questions: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  return (await askWhole(shell, questions, signal)).map((printed) => shortLines(printed));
}
