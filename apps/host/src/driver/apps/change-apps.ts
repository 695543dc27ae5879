import { randomUUID } from 'node:crypto';
import type { AgentCallParams, InstalledApp, InstalledParts } from '@phalanx/protocol';
import { longList } from '../shell/phone-output.ts';
import { type PhoneShell, type ShellResult, shellQuote } from '../shell/phone-shell.ts';
import { DriverError } from '../driver-error.ts';
import { saysNoFile, toldAnswer } from '../shell/told-answer.ts';
import { type BundleParts, bundleParts, namesOf } from './bundle-parts.ts';
import { requireInstalled, type AppOfUser, requireUser, userOption } from './apps.ts';

export async function listApps(
  shell: PhoneShell,
  { user }: AgentCallParams<'app.list'>,
  signal: AbortSignal,
): Promise<InstalledApp[]> {
  const list = `pm list packages${userOption(user)}`;
  const answer = await shell.run(`${list} -3 && echo system && ${list} -s`, signal, longList);
  requireUser(answer, user);
  // Android itself is a package of every user.
  const lines = toldAnswer(answer, { sign: /^package:android\r?$/m, what: 'its apps' }).split(/\r?\n/);
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
  // A success prints nothing, and older phones exit with 0 even after an error. The name of an app or a permission is
  // no error.
  if ((answer.exitCode ?? 0) !== 0 || refusedPermission.test(`${answer.stderr}\n${answer.stdout}`))
    throw refusedChange(`The phone refused "${command}": ${said}.`);
}

const refusedPermission =
  /^[ \t]*(?:Error\b|Bad argument|Exception\b|Operation not allowed|Security exception|java\.)/m;

/** Runs a command on an installed app. Removes the line with the app's path from the output. */
async function ofInstalled(
  shell: PhoneShell,
  app: AppOfUser,
  command: string,
  signal: AbortSignal,
): Promise<ShellResult> {
  const answer = await shell.run(`pm path${userOption(app.user)} ${app.packageName} && ${command}`, signal);
  await requireInstalled(shell, app, answer, signal);
  return { ...answer, stdout: answer.stdout.replaceAll(/^package:.*\r?\n/gm, '') };
}

/** Returns the message of an exception without Java's stack trace. Ignores the output of steps that succeeded. */
function saidOf({ stdout, stderr }: ShellResult): string {
  const said = `${stdout}\n${stderr}`.replaceAll(/^(?:Success\b|Performing ).*$/gm, '').trim();
  const sentence = /^java\..*$/m.exec(said)?.[0] ?? said;
  return sentence.replaceAll(/\s+/g, ' ').slice(0, 300) || 'it said nothing';
}

function refusedChange(sentence: string): DriverError {
  return new DriverError('app_change_refused', sentence);
}

type Order = AgentCallParams<'app.install'>;

const maxNamed = 50;

/**
 * Installs an APK, or a bundle with the APKs of one app: `.apks`, `.xapk`, `.apkm`. Returns what of the bundle was not
 * installed.
 */
export async function installApp(
  shell: PhoneShell,
  order: Order,
  signal: AbortSignal,
): Promise<InstalledParts> {
  const { path, grantPermissions, user } = order;
  // Android's installer may not read the shared storage, so it gets a copy.
  const copy = `/data/local/tmp/phalanx-${randomUUID()}`;
  const flags = `${grantPermissions ? '-r -g' : '-r'}${userOption(user)}`;
  try {
    const file = `${copy}.apk`;
    const answer = await shell.run(`cp ${shellQuote(path)} ${file} && pm install ${flags} ${file}`, signal);
    if (/^Success/m.test(answer.stdout)) return { notInstalled: [] };
    requireUser(answer, user);
    let said = saidOf(answer);
    if (saysNoFile(answer)) throw new DriverError('file_not_found', `There is no APK ${path}.`);
    // Lists parts only after this answer, because most files are a single APK.
    const parts = noApk.test(said) ? await listParts(shell, file, signal) : noParts;
    if (parts.apks.length > 0) {
      const failure = await installParts(shell, { copy, parts: parts.apks, flags }, signal);
      if (failure === undefined) return await putObbs(shell, { copy, parts, user }, signal);
      said = failure;
    }
    throw refusedChange(`The phone did not install ${path}: ${said}.${grantHint(said)}`);
  } finally {
    await shell.run(`rm -rf ${copy}.apk ${copy}`, signal).catch(() => {});
  }
}

/**
 * Errors for a file that is no APK: the first one by its name, before a session begins, and the second one by the
 * installer. Source: AOSP, PackageManagerShellCommand.java, setParamsSize.
 */
const noApk = /Failed to parse APK file|INSTALL_PARSE_FAILED/;

/**
 * Lists the APKs in a bundle; none when the file is no bundle. Rejects for a bundle that has to be prepared for a phone
 * first.
 */
async function listParts(shell: PhoneShell, file: string, signal: AbortSignal): Promise<BundleParts> {
  const { stdout } = await shell.run(`unzip -l ${file}`, signal, longList);
  const names = namesOf(stdout);
  if (names.includes('universal.apk')) return bundleParts(names);
  if (names.includes('BundleConfig.pb'))
    throw refusedChange(
      'An app bundle (.aab) is for a store. Make APKs of it: bundletool build-apks --mode=universal.',
    );
  if (names.includes('toc.pb'))
    throw refusedChange(
      'The bundle has the APKs of all phones. Make one for any phone: bundletool build-apks --mode=universal.',
    );
  return bundleParts(names);
}

const noParts: BundleParts = { apks: [], obbs: [], others: [] };

/**
 * Stores the expansion files of a bundle where its app looks for them. Returns what of the bundle was not installed.
 */
async function putObbs(
  shell: PhoneShell,
  { copy, parts, user }: { copy: string; parts: BundleParts; user: number | undefined },
  signal: AbortSignal,
): Promise<InstalledParts> {
  const notInstalled = [...parts.others];
  // Each user has a separate shared storage.
  const storage = user === undefined ? '/sdcard' : `/storage/emulated/${user}`;
  for (const { name, packageName } of parts.obbs) {
    const folder = `${storage}/Android/obb/${packageName}`;
    const unpack = `unzip -o -q ${copy}.apk ${name} -d ${copy}`;
    const put = `mkdir -p ${folder} && mv ${copy}/${name} ${folder}/ && echo phalanx-put`;
    const { stdout } = await shell.run(`${unpack} && ${put}`, signal);
    if (!stdout.includes('phalanx-put')) notInstalled.push(name);
  }
  return { notInstalled: shortList(notInstalled) };
}

/** Shortens a list of names. The last line counts the names that are left out. */
function shortList(names: readonly string[]): string[] {
  const named = names.length > maxNamed ? names.slice(0, maxNamed - 1) : names;
  const more = names.length - named.length;
  return [...named.map((name) => name.slice(0, 200)), ...(more > 0 ? [`and ${more} more`] : [])];
}

interface Parts {
  readonly copy: string;
  readonly parts: readonly string[];
  readonly flags: string;
}

/** Installs the APKs in one session, as `adb install-multiple` does. Returns the phone's answer when it refuses. */
async function installParts(
  shell: PhoneShell,
  { copy, parts, flags }: Parts,
  signal: AbortSignal,
): Promise<string | undefined> {
  const unpacked = await shell.run(
    `mkdir ${copy} && unzip -o -q ${copy}.apk ${parts.join(' ')} -d ${copy}`,
    signal,
  );
  if ((unpacked.exitCode ?? 0) !== 0) return saidOf(unpacked);
  const created = await shell.run(`pm install-create ${flags}`, signal);
  const session = /\[(\d+)\]/.exec(created.stdout)?.[1];
  if (session === undefined) return saidOf(created);
  for (const [index, part] of parts.entries()) {
    const written = await shell.run(`pm install-write ${session} ${index}.apk ${copy}/${part}`, signal);
    if (/^Success/m.test(written.stdout)) continue;
    await shell.run(`pm install-abandon ${session}`, signal);
    return saidOf(written);
  }
  const committed = await shell.run(`pm install-commit ${session}`, signal);
  return /^Success/m.test(committed.stdout) ? undefined : saidOf(committed);
}

function grantHint(said: string): string {
  return said.includes('INSTALL_GRANT_RUNTIME_PERMISSIONS') ? ' Install it without grantPermissions.' : '';
}
