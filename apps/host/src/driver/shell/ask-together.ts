import { randomBytes } from 'node:crypto';

import { shortLines, defaultOutput } from './phone-output.ts';
import type { PhoneShell } from './phone-shell.ts';

/**
 * Runs several commands on a phone in one, because a round trip costs more than the output. Returns the whole output of
 * each. The separator is new in each call, so that no text of an app can contain it.
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

/** Returns the same output without the lines that are too long for a regular expression. */
export async function askTogether(
  shell: PhoneShell,
  questions: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  return (await askWhole(shell, questions, signal)).map((printed) => shortLines(printed));
}
