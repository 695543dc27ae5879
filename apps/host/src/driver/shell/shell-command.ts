import type { AgentCallParams, ShellResult } from '@phalanx/protocol';
import { withTimeLimit } from '../../time/time-limit.ts';
import { DriverError } from '../driver-error.ts';
import type { PhoneShell } from './phone-shell.ts';

/** Of both outputs together. */
const maxOutputBytes = 256 * 1024;

/** Runs a line of user code; it ends with its call, because the phone ends what runs in a shell that is cut. */
export async function runShellCommand(
  shell: PhoneShell,
  { command, timeoutMs }: AgentCallParams<'phone.shell'>,
  signal: AbortSignal,
): Promise<ShellResult> {
  const onTimeout = (): Error =>
    new DriverError('call_timed_out', `The command did not end in ${timeoutMs / 1000} s.`);
  const { stdout, stderr, exitCode } = await withTimeLimit(
    { timeoutMs, signals: [signal], onTimeout },
    (limit) => shell.run(command, limit, maxOutputBytes),
  );
  return { stdout, stderr, exitCode: exitCode ?? null };
}
