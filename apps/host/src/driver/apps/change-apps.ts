import type { AgentCallParams, InstalledApp } from '@phalanx/protocol';

import type { PhoneShell, ShellResult } from '../shell/phone-shell.ts';
import { DriverError } from '../driver-error.ts';
import { appNotFound, type AppOfUser } from './apps.ts';
import { requireUser, userOption } from './phone-users.ts';

export async function listApps(
  shell: PhoneShell,
  { user }: AgentCallParams<'app.list'>,
  signal: AbortSignal,
): Promise<InstalledApp[]> {
  const list = `pm list packages${userOption(user)}`;
  const answer = await shell.run(`${list} -3; echo system; ${list} -s`, signal);
  requireUser(answer, user);
  const lines = answer.stdout.split(/\r?\n/);
  const firstOfSystem = lines.indexOf('system');
  return lines.flatMap((line, index) => {
    const packageName = /^package:([\w.]+)$/.exec(line)?.[1];
    return packageName === undefined ? [] : [{ packageName, isSystem: index > firstOfSystem }];
  });
}

export async function uninstallApp(shell: PhoneShell, app: AppOfUser, signal: AbortSignal): Promise<void> {
  const { packageName } = app;
  const answer = await ofInstalled(shell, app, `pm uninstall${userOption(app.user)} ${packageName}`, signal);
  if (!/^Success/m.test(answer.stdout))
    throw refusedChange(`The phone did not uninstall ${packageName}: ${saidOf(answer)}.`);
}

export async function clearAppData(shell: PhoneShell, app: AppOfUser, signal: AbortSignal): Promise<void> {
  const { packageName } = app;
  const answer = await ofInstalled(shell, app, `pm clear${userOption(app.user)} ${packageName}`, signal);
  const said = saidOf(answer);
  if (!/^Success/m.test(answer.stdout))
    throw refusedChange(`The phone did not clear the data of ${packageName}: ${said}.`);
}

export async function setPermission(
  shell: PhoneShell,
  { packageName, permission, isGranted, user }: AgentCallParams<'app.setPermission'>,
  signal: AbortSignal,
): Promise<void> {
  const command = `pm ${isGranted ? 'grant' : 'revoke'}${userOption(user)} ${packageName} ${permission}`;
  const answer = await ofInstalled(shell, { packageName, user }, command, signal);
  const said = saidOf(answer);
  // What went well says nothing; older phones exit with 0 after an error too.
  if (/Exception|not allowed|Error/.test(said))
    throw refusedChange(`The phone refused "${command}": ${said}.`);
}

/** Runs a command on an app. The line of its path is taken from what it said. */
async function ofInstalled(
  shell: PhoneShell,
  app: AppOfUser,
  command: string,
  signal: AbortSignal,
): Promise<ShellResult> {
  const answer = await shell.run(`pm path${userOption(app.user)} ${app.packageName} && ${command}`, signal);
  requireUser(answer, app.user);
  if (!answer.stdout.includes('package:')) throw await appNotFound(shell, app, signal);
  return { ...answer, stdout: answer.stdout.replaceAll(/^package:.*\r?\n/gm, '') };
}

/** The sentence of an exception, without Java's stack. */
export function saidOf({ stdout, stderr }: ShellResult): string {
  const said = `${stdout}\n${stderr}`.trim();
  const sentence = /^java\..*$/m.exec(said)?.[0] ?? said;
  return sentence.replaceAll(/\s+/g, ' ').slice(0, 300) || 'it said nothing';
}

export function refusedChange(sentence: string): DriverError {
  return new DriverError('app_change_refused', sentence);
}
