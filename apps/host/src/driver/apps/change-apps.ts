import type { AgentCallParams, InstalledApp } from '@phalanx/protocol';
import { appNotFound } from './apps.ts';
import { refusedChange as refused, saidOf } from './app-change.ts';
import type { PhoneShell, ShellResult } from '../shell/phone-shell.ts';

export async function listApps(shell: PhoneShell, signal: AbortSignal): Promise<InstalledApp[]> {
  const { stdout } = await shell.run('pm list packages -3; echo system; pm list packages -s', signal);
  const lines = stdout.split(/\r?\n/);
  const firstOfSystem = lines.indexOf('system');
  return lines.flatMap((line, index) => {
    const packageName = /^package:([\w.]+)$/.exec(line)?.[1];
    return packageName === undefined ? [] : [{ packageName, isSystem: index > firstOfSystem }];
  });
}

export async function uninstallApp(
  shell: PhoneShell,
  packageName: string,
  signal: AbortSignal,
): Promise<void> {
  const answer = await ofInstalled(shell, packageName, `pm uninstall ${packageName}`, signal);
  if (!/^Success/m.test(answer.stdout))
    throw refused(`The phone did not uninstall ${packageName}: ${saidOf(answer)}.`);
}

export async function clearAppData(
  shell: PhoneShell,
  packageName: string,
  signal: AbortSignal,
): Promise<void> {
  const answer = await ofInstalled(shell, packageName, `pm clear ${packageName}`, signal);
  const said = saidOf(answer);
  if (!/^Success/m.test(answer.stdout))
    throw refused(`The phone did not clear the data of ${packageName}: ${said}.`);
}

export async function setPermission(
  shell: PhoneShell,
  { packageName, permission, isGranted }: AgentCallParams<'app.setPermission'>,
  signal: AbortSignal,
): Promise<void> {
  const command = `pm ${isGranted ? 'grant' : 'revoke'} ${packageName} ${permission}`;
  const answer = await ofInstalled(shell, packageName, command, signal);
  const said = saidOf(answer);
  // What went well says nothing; older phones exit with 0 after an error too.
  if (/Exception|not allowed|Error/.test(said)) throw refused(`The phone refused "${command}": ${said}.`);
}

/** Runs a command on an app. The line of its path is taken from what it said. */
async function ofInstalled(
  shell: PhoneShell,
  packageName: string,
  command: string,
  signal: AbortSignal,
): Promise<ShellResult> {
  const answer = await shell.run(`pm path ${packageName} && ${command}`, signal);
  if (!answer.stdout.includes('package:')) throw await appNotFound(shell, packageName, signal);
  return { ...answer, stdout: answer.stdout.replaceAll(/^package:.*\r?\n/gm, '') };
}
