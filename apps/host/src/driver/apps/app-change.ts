import { DriverError } from '../driver-error.ts';
import type { ShellResult } from '../shell/phone-shell.ts';

/** The sentence of an exception, without Java's stack. */
export function saidOf({ stdout, stderr }: ShellResult): string {
  const said = `${stdout}\n${stderr}`.trim();
  const sentence = /^java\..*$/m.exec(said)?.[0] ?? said;
  return sentence.replaceAll(/\s+/g, ' ').slice(0, 300) || 'it said nothing';
}

export function refusedChange(sentence: string): DriverError {
  return new DriverError('app_change_refused', sentence);
}
