import { getSystemErrorMessage } from 'node:util';
import { ServiceError, ServiceUnreachable, NotTheService } from '@phalanx/client/service-errors';
import { SettingError } from '@phalanx/settings';
import { CommanderError } from 'commander';

import { CommandError, exitCodes } from '../exit-codes.ts';
import { printable, withNames } from './terminal.ts';

/** Failure of the program, as reported to people and scripts. */
interface Failure {
  readonly code: string;
  readonly message: string;
  readonly exitCode: number;
  /** Errors of a compiler, one per line. */
  readonly errors?: readonly string[];
}

const addressOptions = '--server-url or PHALANX_SERVER_URL';
const logInAgain =
  'Log in again with "phalanx login", or pass a valid token with --token-file or PHALANX_TOKEN.';

/** Describes an expected failure in a sentence. Returns undefined for a bug, which is printed with its stack. */
function failureOf(error: unknown): Failure | undefined {
  if (error instanceof ServiceError) return refusal(error);
  if (!(error instanceof Error)) return undefined;
  const { message } = error;
  if (error instanceof CommanderError) return { code: 'usage', message, exitCode: exitCodes.usage };
  if (error instanceof CommandError) return { code: error.code, message, exitCode: error.exitCode };
  if (error instanceof SettingError) return { code: 'usage', message, exitCode: exitCodes.usage };
  if (error instanceof ServiceUnreachable)
    return unreachable(`${message} Start it, or pass its address with ${addressOptions}.`);
  if (error instanceof NotTheService)
    return unreachable(
      error.location === undefined
        ? `${message} Check the address.`
        : `${message} Pass that address with ${addressOptions}.`,
    );
  return systemFailure(error);
}

const unreachable = (message: string): Failure => ({
  code: 'server_unreachable',
  message,
  exitCode: exitCodes.usage,
});

function refusal({ code, message, status, errors }: ServiceError): Failure {
  if (status === 401) return { code, message: `${message} ${logInAgain}`, exitCode: exitCodes.usage };
  return { code, message, exitCode: exitCodes.refused, ...(errors.length === 0 ? {} : { errors }) };
}

/** Describes the failure of a file or folder that cannot be used, such as `EACCES`. */
function systemFailure(error: Error): Failure | undefined {
  if (!('errno' in error && 'path' in error)) return undefined;
  const { errno, path } = error;
  if (typeof errno !== 'number' || typeof path !== 'string') return undefined;
  const message = `${path} cannot be used: ${getSystemErrorMessage(errno)}.`;
  return { code: 'file_failed', message, exitCode: exitCodes.failed };
}

/** Prints the error to standard error, and returns the exit code. */
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
