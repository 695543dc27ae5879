import { DriverError } from '../driver-error.ts';
import type { ShellResult } from './phone-shell.ts';

/** Beginnings of the lines in which Android's programs, its shell and Java report a failure. */
const failure =
  /^[ \t]*(?:Error\b|Exception\b|Failure\b|Security exception|Permission Denial|cmd: |Can't find service|\S{0,40}\bsh: |java\.|\w{1,20}: (?:\/|'))[^\r\n]{0,300}/m;

/**
 * Whether a program reported a missing file. The words end the line, because the file's name before them may contain
 * the same words.
 */
export const saysNoFile = ({ stdout, stderr }: ShellResult): boolean =>
  /: No such file or directory\r?$/m.test(`${stderr}\n${stdout}`);

const maxReasonLength = 200;

/**
 * Returns the phone's output for a question when it contains the sign of an answer: a heading, or a line that every
 * phone prints in that answer. No output, or an exit code, is not an empty answer. Throws `phone_answer_unexpected`
 * then.
 */
export function toldAnswer(answer: ShellResult, { sign, what }: { sign: RegExp; what: string }): string {
  const { stdout, stderr, exitCode = 0 } = answer;
  if (exitCode === 0 && sign.test(stdout) && !failure.test(stderr)) return stdout;
  throw unexpectedAnswer(what, answer);
}

/**
 * Returns an error with what the phone did not report. Of the output it includes only a line of a failure, because the
 * rest may contain texts of apps.
 */
export function unexpectedAnswer(what: string, { stdout, stderr, exitCode = 0 }: ShellResult): DriverError {
  const said = (failure.exec(stderr) ?? failure.exec(stdout))?.[0].trim().slice(0, maxReasonLength);
  const ended = exitCode === 0 ? 'its answer is not one that Android gives' : `exit code ${exitCode}`;
  const reason =
    said ?? (`${stdout}${stderr}`.trim() === '' && exitCode === 0 ? 'it printed nothing' : ended);
  return new DriverError('phone_answer_unexpected', `The phone did not tell ${what}: ${reason}.`);
}
