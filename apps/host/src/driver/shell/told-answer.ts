import { DriverError } from '../driver-error.ts';
import type { ShellResult } from './phone-shell.ts';

/** Beginnings of the lines with which Android's programs, its shell and Java tell that something failed. */
const failure =
  /^[ \t]*(?:Error\b|Exception\b|Failure\b|Security exception|Permission Denial|cmd: |Can't find service|\S{0,40}\bsh: |java\.|\w{1,20}: (?:\/|'))[^\r\n]{0,300}/m;

/** Whether a program said that a file is not there. The words end its line: before them stands a name, which may have the same words. */
export const saysNoFile = ({ stdout, stderr }: ShellResult): boolean =>
  /: No such file or directory\r?$/m.test(`${stderr}\n${stdout}`);

const maxReasonLength = 200;

/**
 * Returns what a phone printed for a question, when it has the sign that the question was answered: a heading, or a line that every phone
 * has in that answer. Nothing printed, and an exit code, are no empty answer. Throws `phone_answer_unexpected` then.
 */
export function toldAnswer(answer: ShellResult, { sign, what }: { sign: RegExp; what: string }): string {
  const { stdout, stderr, exitCode = 0 } = answer;
  if (exitCode === 0 && sign.test(stdout) && !failure.test(stderr)) return stdout;
  throw unexpectedAnswer(what, answer);
}

/** Names what the phone did not tell. Of what it printed only a line of a failure is in it: the rest may hold texts of apps. */
export function unexpectedAnswer(what: string, { stdout, stderr, exitCode = 0 }: ShellResult): DriverError {
  const said = (failure.exec(stderr) ?? failure.exec(stdout))?.[0].trim().slice(0, maxReasonLength);
  const ended = exitCode === 0 ? 'its answer is not one that Android gives' : `exit code ${exitCode}`;
  const reason =
    said ?? (`${stdout}${stderr}`.trim() === '' && exitCode === 0 ? 'it printed nothing' : ended);
  return new DriverError('phone_answer_unexpected', `The phone did not tell ${what}: ${reason}.`);
}
