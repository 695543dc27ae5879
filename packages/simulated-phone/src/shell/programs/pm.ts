import { apkPath, mainUser } from '../../android/packages/packages.ts';
import { type Process, type Program, usersProblem, userOf } from '../program.ts';
import { ByteReader, FileSystemError } from '../../adb/services.ts';
import { findApkManifest, type ApkManifest } from '../../android/packages/apk.ts';
import { icons } from '../../widgets/icons.ts';
import { page } from '../../widgets/page.ts';
import { type App, defineApp } from '../../view/app.ts';

/** Options of `pm` that take a value. */
const valued = new Set(['--user', '-i', '--installer', '-S', '--abi', '-c', '-a', '--pkg']);

function wordsOf(args: readonly string[]): string[] {
  return args.filter((arg, index) => !arg.startsWith('-') && !valued.has(args[index - 1] ?? ''));
}

const path: Program = async ({ phone, args, stdout }) => {
  const entry = phone.android.packages.find(wordsOf(args)[0] ?? '', userOf(args));
  if (!entry) return 1;
  await stdout.write(`package:${apkPath(entry)}\n`);
  return 0;
};

const list: Program = async ({ phone, args, stdout, stderr }) => {
  const [kind, filter] = wordsOf(args);
  if (kind === 'instrumentation') {
    const { known } = phone.instrumentation;
    if (known !== undefined) await stdout.write(`instrumentation:${known}\n`);
    return 0;
  }
  if (kind === 'users') {
    const rows = phone.android.packages
      .listUsers()
      .map(
        (user) => `\tUserInfo{${user}:${user === mainUser ? 'Owner:4c13' : 'Work profile:1030'}} running\n`,
      );
    await stdout.write(`Users:\n${rows.join('')}`);
    return 0;
  }
  if (kind !== 'packages' && kind !== 'package') {
    await stderr.write(`Error: unknown list type '${kind ?? ''}'\n`);
    return 255;
  }
  for (const entry of phone.android.packages.list(userOf(args))) {
    if (filter !== undefined && !entry.name.includes(filter)) continue;
    if ((args.includes('-3') && entry.isSystem) || (args.includes('-s') && !entry.isSystem)) continue;
    const file = args.includes('-f') ? `${apkPath(entry)}=` : '';
    const version = args.includes('--show-versioncode') ? ` versionCode:${entry.versionCode}` : '';
    await stdout.write(`package:${file}${entry.name}${version}\n`);
  }
  return 0;
};

/** Android's reply when several activities match. */
const chooser = 'android/com.android.internal.app.ResolverActivity';

const queryActivities: Program = async ({ phone, args, stdout }) => {
  const app = phone.android.findApp(wordsOf(args).at(-1) ?? '', userOf(args));
  await stdout.write(
    app === undefined
      ? 'No activities found\n'
      : `1 activities found:\n  Activity #0:\n    priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=false\n    ${app.packageName}/${app.activities[0] ?? ''}\n`,
  );
  return 0;
};

async function fail({ stderr }: Process, command: string, exception: string): Promise<number> {
  await stderr.write(`\nException occurred while executing '${command}':\njava.lang.${exception}\n`);
  return 255;
}

const permission =
  (command: 'grant' | 'revoke', change: (granted: Set<string>, name: string) => void): Program =>
  async (process) => {
    const [packageName = '', name = ''] = wordsOf(process.args);
    const { packages, identity } = process.phone.android;
    const say = (exception: string) => fail(process, command, exception);
    if (identity.maker.refusesGrants) {
      const lacking = `android.permission.${command.toUpperCase()}_RUNTIME_PERMISSIONS`;
      const sentence = `Neither user 2000 nor current process has ${lacking}.`;
      return say(`SecurityException: ${command}RuntimePermission: ${sentence}`);
    }
    const user = userOf(process.args);
    if (!packages.find(packageName, user))
      return say(`IllegalArgumentException: Unknown package: ${packageName}`);
    if (!/^[\w.]+\.permission\.[A-Z_]+$/.test(name))
      return say(`IllegalArgumentException: Unknown permission: ${name}`);
    change(packages.permissionsOf(packageName, user), name);
    return 0;
  };

const resolveActivity: Program = async ({ phone, args, stdout }) => {
  const asksForHome = args.includes('android.intent.category.HOME');
  const app = asksForHome
    ? phone.android.listApps().find(({ isHome }) => isHome)
    : phone.android.findApp(wordsOf(args).at(-1) ?? '', userOf(args));
  const activity = app?.activities[0];
  if (activity === undefined) await stdout.write('No activity found\n');
  else {
    const isChooser = phone.android.identity.maker.answersWithResolver && app?.isHome === false;
    const component = isChooser ? chooser : `${app?.packageName ?? ''}/${activity}`;
    await stdout.write(
      `priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true\n${component}\n`,
    );
  }
  return 0;
};

const uninstall: Program = async ({ phone, args, stdout }) => {
  const name = wordsOf(args)[0] ?? '';
  const user = userOf(args);
  phone.android.clearData(name, user);
  if (user === mainUser) phone.instrumentation.stopPackage(name);
  const isRemoved = phone.android.packages.remove(name, user);
  phone.android.redraw();
  await stdout.write(isRemoved ? 'Success\n' : 'Failure [DELETE_FAILED_INTERNAL_ERROR]\n');
  return isRemoved ? 0 : 1;
};

const clear: Program = async (process) => {
  const { phone, args, stdout } = process;
  const name = wordsOf(args)[0] ?? '';
  const { clearRefusal } = phone.android.identity.maker;
  if (clearRefusal !== undefined)
    return fail(
      process,
      'clear',
      `SecurityException: ${clearRefusal.replace(/package$/, `package ${name}`)}`,
    );
  phone.android.clearData(name, userOf(args));
  const isKnown = phone.android.packages.find(name, userOf(args)) !== undefined;
  await stdout.write(isKnown ? 'Success\n' : 'Failed\n');
  return isKnown ? 0 : 1;
};

const trimCaches: Program = async ({ phone, args, stderr }) => {
  const [wanted] = args;
  if (wanted === undefined) {
    await stderr.write('Error: no size specified\n');
    return 1;
  }
  phone.android.files.trimCaches(Number(wanted));
  return 0;
};

const maxApkBytes = 256 * 1024 * 1024;

function failure(code: string, detail: string): string {
  return `Failure [${code}: ${detail}]\n`;
}

/** Reads the APK from standard input with `-S SIZE`, otherwise from the named file. */
async function readApk({ phone, args, stdin }: Process): Promise<Buffer> {
  const sizeIndex = args.indexOf('-S');
  if (sizeIndex < 0) return phone.android.files.readFile(args.findLast((arg) => !arg.startsWith('-')) ?? '');
  const sizeBytes = Number(args[sizeIndex + 1]);
  if (!Number.isInteger(sizeBytes) || sizeBytes <= 0 || sizeBytes > maxApkBytes) {
    throw new FileSystemError(`bad size ${args[sizeIndex + 1] ?? ''}`);
  }
  return new ByteReader(stdin).read(sizeBytes);
}

function installApk({ phone, args }: Process, apk: Buffer): string {
  if (phone.faults.restrictedDebugging) return failure(...phone.android.identity.maker.installRefusal);
  if (phone.faults.verifyAppsOverUsb)
    return failure('INSTALL_FAILED_VERIFICATION_FAILURE', 'Package Verification Result');
  const manifest = findApkManifest(apk);
  if (!manifest) return failure('INSTALL_PARSE_FAILED_NOT_APK', 'Failed to parse base.apk: not an APK');
  const { packages, identity } = phone.android;
  if (manifest.minSdkVersion > identity.sdkVersion) {
    return failure(
      'INSTALL_FAILED_OLDER_SDK',
      `Requires newer sdk version #${manifest.minSdkVersion} (current version is #${identity.sdkVersion})`,
    );
  }
  const known = packages.find(manifest.packageName, userOf(args));
  if (known && known.versionCode > manifest.versionCode && !args.includes('-d')) {
    const detail = `Downgrade detected: Update version code ${manifest.versionCode} is older than current ${known.versionCode}`;
    return failure('INSTALL_FAILED_VERSION_DOWNGRADE', detail);
  }
  phone.android.forceStop(manifest.packageName, userOf(args));
  phone.instrumentation.stopPackage(manifest.packageName);
  const entry = {
    name: manifest.packageName,
    versionCode: manifest.versionCode,
    versionName: manifest.versionName,
    isSystem: false,
    permissions: manifest.permissions,
  };
  packages.add(entry, userOf(args));
  if (manifest.launchers.length > 0) phone.android.addApp(installedApp(manifest));
  phone.android.redraw();
  return 'Success\n';
}

interface InstallSession {
  /** Arguments of the command that created the session, such as its user. */
  readonly args: readonly string[];
  readonly parts: Buffer[];
}

/** Open sessions of each phone. */
const sessions = new WeakMap<Process['phone'], Map<string, InstallSession>>();
const firstSession = 1_000_000;

function sessionsOf({ phone }: Process): Map<string, InstallSession> {
  const known = sessions.get(phone) ?? new Map<string, InstallSession>();
  sessions.set(phone, known);
  return known;
}

const installCreate: Program = async (process) => {
  const open = sessionsOf(process);
  const id = String(firstSession + open.size);
  open.set(id, { args: process.args, parts: [] });
  await process.stdout.write(`Success: created install session [${id}]\n`);
  return 0;
};

/** Runs `pm install-write SESSION NAME FILE`. */
const installWrite: Program = async (process) => {
  const [id = '', , file = ''] = process.args.filter((arg) => !arg.startsWith('-'));
  const parts = sessionsOf(process).get(id)?.parts;
  if (parts === undefined || !process.phone.android.files.findStat(file)) {
    await process.stderr.write(`Error: failed to write; ${file}\n`);
    return 255;
  }
  parts.push(process.phone.android.files.readFile(file));
  await process.stdout.write('Success: streamed 1 bytes\n');
  return 0;
};

/** Commits a session. All parts must belong to one app, as PackageInstallerSession checks. */
const installCommit: Program = async (process) => {
  const id = process.args.find((arg) => !arg.startsWith('-')) ?? '';
  const { args, parts } = sessionsOf(process).get(id) ?? { args: [], parts: [] };
  sessionsOf(process).delete(id);
  const [base = Buffer.alloc(0)] = parts;
  const names = new Set(parts.map((part) => findApkManifest(part)?.packageName));
  const answer =
    names.size > 1
      ? failure('INSTALL_FAILED_INVALID_APK', 'Split inconsistent with existing package')
      : installApk({ ...process, args }, base);
  await process.stdout.write(answer);
  return answer.startsWith('Success') ? 0 : 1;
};

const installAbandon: Program = (process) => {
  for (const id of process.args) sessionsOf(process).delete(id);
  return 0;
};

/**
 * Fails like the installation of a named file, which is parsed before its session begins: AOSP,
 * PackageManagerShellCommand.java, setParamsSize (seen in https://github.com/openatx/uiautomator2/issues/690). An APK
 * sent with `-S` is parsed by the installer, which has an error code for the failure.
 */
async function notParsed(process: Process, file: string): Promise<number> {
  const sentence = `Error: Failed to parse APK file: ${file}`;
  await process.stderr.write(`${sentence}\n`);
  return await fail(process, 'install', `IllegalArgumentException: ${sentence}`);
}

/** Runs `pm install [-r] [-g] [-t] [-d] FILE`, or `cmd package install -S SIZE` with the APK as input. */
const install: Program = async (process) => {
  const { stdout, stderr, args } = process;
  if (args.includes('-g') && process.phone.android.identity.maker.refusesGrants) {
    await stderr.write(
      "\nException occurred while executing 'install':\njava.lang.SecurityException: You need the android.permission.INSTALL_GRANT_RUNTIME_PERMISSIONS permission to use the PackageManager.INSTALL_GRANT_RUNTIME_PERMISSIONS flag\n",
    );
    return 255;
  }
  try {
    const apk = await readApk(process);
    const unreadable = args.includes('-S') || findApkManifest(apk) !== undefined ? undefined : args.at(-1);
    if (unreadable !== undefined) return await notParsed(process, unreadable);
    const answer = installApk(process, apk);
    await stdout.write(answer);
    return answer.startsWith('Success') ? 0 : 1;
  } catch (error) {
    if (!(error instanceof FileSystemError)) throw error;
    await stderr.write(`Error: failed to open file: ${args.at(-1) ?? ''}: ${error.message}\n`);
    return 255;
  }
};

/** Returns the app for an installed APK, whose code the phone can't run: its screens are empty. */
function installedApp({ packageName, versionCode, versionName, launchers }: ApkManifest): App {
  const empty = () => page({ title: packageName, rows: [] });
  return defineApp({
    packageName,
    label: packageName.split('.').at(-1) ?? packageName,
    icon: icons.chevron,
    color: '#5f6368',
    versionCode,
    versionName,
    state: () => undefined,
    activities: Object.fromEntries(launchers.map((name) => [name, empty])),
  });
}

const commands: ReadonlyMap<string, Program> = new Map([
  ['path', path],
  ['list', list],
  ['resolve-activity', resolveActivity],
  ['uninstall', uninstall],
  ['clear', clear],
  ['trim-caches', trimCaches],
  ['install', install],
  ['install-create', installCreate],
  ['install-write', installWrite],
  ['install-commit', installCommit],
  ['install-abandon', installAbandon],
  ['query-activities', queryActivities],
  ['grant', permission('grant', (granted, name) => granted.add(name))],
  ['revoke', permission('revoke', (granted, name) => granted.delete(name))],
  ['enable', () => 0],
]);

/** Command of the package manager; `cmd package` is the same. */
export const pm: Program = async (process) => {
  if (!process.phone.isBooted || process.phone.faults.missingServices.includes('package')) {
    await process.stderr.write("cmd: Can't find service: package\n");
    return 20;
  }
  const [name = '', ...args] = process.args;
  const problem = usersProblem(process.phone, args);
  if (problem !== undefined) return fail(process, name, problem);
  const command = commands.get(name);
  if (command) return command({ ...process, args });
  await process.stderr.write(`Unknown command: ${name}\n`);
  return 255;
};
