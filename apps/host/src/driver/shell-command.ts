import type { AgentCallParams, ShellResult } from '@phalanx/protocol';
import type { PhoneShell } from './phone-shell.ts';

/** Of both outputs together. */
const maxOutputBytes = 256 * 1024;

/** Runs a line of user code; it ends with its call, because the phone ends what runs in a shell that is cut. */
export async function runShellCommand(
  shell: PhoneShell,
  { command }: AgentCallParams<'phone.shell'>,
  signal: AbortSignal,
): Promise<ShellResult> {
  const { stdout, stderr, exitCode } = await shell.run(command, signal, maxOutputBytes);
  return { stdout, stderr, exitCode: exitCode ?? null };
}
