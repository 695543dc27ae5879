import { getSystemErrorMessage } from 'node:util';
import { SettingError } from '@phalanx/settings';
import { CommanderError } from 'commander';

import { ApiRefusal, ServerUnreachable } from '../api-client.ts';
import { CommandError, exitCodes } from '../exit-codes.ts';
import { printable, withNames } from './terminal.ts';

/** An end of the program as people and scripts are told of it. */
interface Failure {
  readonly code: string;
  readonly message: string;
  readonly exitCode: number;
  /** Lines of a compiler. */
  readonly errors?: readonly string[];
}

const logInAgain =
  'Log in again with "phalanx login", or give a valid token with --token-file or PHALANX_TOKEN.';

/** Faults of settings and of the surroundings are for people: a sentence. Nothing for a bug, which has a stack. */
function failureOf(error: unknown): Failure | undefined {
  if (error instanceof ApiRefusal) return refusal(error);
  if (!(error instanceof Error)) return undefined;
  const { message } = error;
  if (error instanceof CommanderError) return { code: 'usage', message, exitCode: exitCodes.usage };
  if (error instanceof CommandError) return { code: error.code, message, exitCode: error.exitCode };
  if (error instanceof SettingError) return { code: 'usage', message, exitCode: exitCodes.usage };
  if (error instanceof ServerUnreachable)
    return { code: 'server_unreachable', message, exitCode: exitCodes.usage };
  return systemFailure(error);
}

function refusal({ code, message, status, errors }: ApiRefusal): Failure {
  if (status === 401) return { code, message: `${message} ${logInAgain}`, exitCode: exitCodes.usage };
  return { code, message, exitCode: exitCodes.refused, ...(errors.length === 0 ? {} : { errors }) };
}

/** A file or folder that can't be used, such as `EACCES`. */
function systemFailure(error: Error): Failure | undefined {
  if (!('errno' in error && 'path' in error)) return undefined;
  const { errno, path } = error;
  if (typeof errno !== 'number' || typeof path !== 'string') return undefined;
  const message = `${path} cannot be used: ${getSystemErrorMessage(errno)}.`;
  return { code: 'file_failed', message, exitCode: exitCodes.failed };
}

/** Tells what went wrong on standard error, and gives the exit code. */
export function reportError(error: unknown, asJson: boolean): number {
  if (error instanceof CommanderError && (error.exitCode === 0 || !asJson))
    // Commander has printed it already.
    return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  const failure = failureOf(error);
  if (failure === undefined) {
    console.error(error);
    return exitCodes.failed;
  }
  if (asJson) console.error(jsonLine(failure));
  else for (const line of failure.errors ?? [failure.message]) console.error(printable(withNames(line)));
  return failure.exitCode;
}

function jsonLine({ exitCode, message, ...rest }: Failure): string {
  return JSON.stringify({ success: false, ...rest, message: withNames(message), exit_code: exitCode });
}
