import { randomUUID } from 'node:crypto';
import type { AgentCallParams, InstalledApp } from '@phalanx/protocol';
import { appNotFound } from './apps.ts';
import { DriverError } from './driver-error.ts';
import { installHint } from './install-hint.ts';
import type { PhoneShell, ShellResult } from './phone-shell.ts';
import { shellQuote } from './shell-quote.ts';
import { injectionAdvice } from './uiautomator2/helper-failure.ts';

export async function listApps(shell: PhoneShell, signal: AbortSignal): Promise<InstalledApp[]> {
  const { stdout } = await shell.run('pm list packages -3; echo system; pm list packages -s', signal);
  const lines = stdout.split(/\r?\n/);
  const firstOfSystem = lines.indexOf('system');
  return lines.flatMap((line, index) => {
    const packageName = /^package:([\w.]+)$/.exec(line)?.[1];
    return packageName === undefined ? [] : [{ packageName, isSystem: index > firstOfSystem }];
  });
}

export async function installApp(
  shell: PhoneShell,
  { path, grantPermissions }: AgentCallParams<'app.install'>,
  signal: AbortSignal,
): Promise<void> {
  // Android's installer may not read the shared storage: it gets a copy.
  const copy = `/data/local/tmp/phalanx-${randomUUID()}.apk`;
  const install = `pm install -r ${grantPermissions ? '-g ' : ''}${copy}`;
  try {
    const answer = await shell.run(`cp ${shellQuote(path)} ${copy} && ${install}`, signal);
    if (/^Success/m.test(answer.stdout)) return;
    const said = saidOf(answer);
    if (/No such file/.test(said)) throw new DriverError('file_not_found', `There is no APK ${path}.`);
    throw refused(`The phone did not install ${path}: ${said}.${installHint(said)}${grantHint(said)}`);
  } finally {
    await shell.run(`rm -f ${copy}`, signal).catch(() => {});
  }
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
    throw refused(`The phone did not clear the data of ${packageName}: ${said}.${switchHint(said)}`);
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
  if (/Exception|not allowed|Error/.test(said))
    throw refused(`The phone refused "${command}": ${said}.${switchHint(said)}`);
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

/** The sentence of an exception, without Java's stack. */
function saidOf({ stdout, stderr }: ShellResult): string {
  const said = `${stdout}\n${stderr}`.trim();
  const sentence = /^java\..*$/m.exec(said)?.[0] ?? said;
  return sentence.replaceAll(/\s+/g, ' ').slice(0, 300) || 'it said nothing';
}

/** Makers keep these from a computer until a switch of their own is on. */
function switchHint(said: string): string {
  return /GRANT_RUNTIME_PERMISSIONS|CLEAR_APP_USER_DATA|is forbidden/.test(said) ? ` ${injectionAdvice}` : '';
}

function grantHint(said: string): string {
  return said.includes('INSTALL_GRANT_RUNTIME_PERMISSIONS')
    ? ` Install it without grantPermissions. ${injectionAdvice}`
    : '';
}

function refused(sentence: string): DriverError {
  return new DriverError('app_change_refused', sentence);
}
