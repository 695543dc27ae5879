import { ByteReader, FileSystemError } from '../../adb/sync-files.ts';
import { findApkManifest, type ApkManifest } from '../../android/packages/apk.ts';
import { type Process, type Program, userOf } from '../program.ts';
import { icons } from '../../widgets/icons.ts';
import { page } from '../../widgets/page.ts';
import { type App, defineApp } from '../../view/app.ts';

const maxApkBytes = 256 * 1024 * 1024;

function failure(code: string, detail: string): string {
  return `Failure [${code}: ${detail}]\n`;
}

/** The APK: from standard input with `-S SIZE`, else from the named file. */
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

/** What was written into the sessions of a phone that are open. */
const sessions = new WeakMap<Process['phone'], Map<string, Buffer[]>>();
const firstSession = 1_000_000;

function sessionsOf({ phone }: Process): Map<string, Buffer[]> {
  const known = sessions.get(phone) ?? new Map<string, Buffer[]>();
  sessions.set(phone, known);
  return known;
}

export const installCreate: Program = async (process) => {
  const open = sessionsOf(process);
  const id = String(firstSession + open.size);
  open.set(id, []);
  await process.stdout.write(`Success: created install session [${id}]\n`);
  return 0;
};

/** `pm install-write SESSION NAME FILE`. */
export const installWrite: Program = async (process) => {
  const [id = '', , path = ''] = process.args.filter((arg) => !arg.startsWith('-'));
  const parts = sessionsOf(process).get(id);
  if (parts === undefined || !process.phone.android.files.findStat(path)) {
    await process.stderr.write(`Error: failed to write; ${path}\n`);
    return 255;
  }
  parts.push(process.phone.android.files.readFile(path));
  await process.stdout.write('Success: streamed 1 bytes\n');
  return 0;
};

/** All parts are of one app, as PackageInstallerSession checks. */
export const installCommit: Program = async (process) => {
  const id = process.args.find((arg) => !arg.startsWith('-')) ?? '';
  const parts = sessionsOf(process).get(id) ?? [];
  sessionsOf(process).delete(id);
  const [base = Buffer.alloc(0)] = parts;
  const names = new Set(parts.map((part) => findApkManifest(part)?.packageName));
  const answer =
    names.size > 1
      ? failure('INSTALL_FAILED_INVALID_APK', 'Split inconsistent with existing package')
      : installApk(process, base);
  await process.stdout.write(answer);
  return answer.startsWith('Success') ? 0 : 1;
};

export const installAbandon: Program = (process) => {
  for (const id of process.args) sessionsOf(process).delete(id);
  return 0;
};

/** `pm install [-r] [-g] [-t] [-d] FILE`, `cmd package install -S SIZE` with the APK as input. */
export const install: Program = async (process) => {
  const { stdout, stderr, args } = process;
  if (args.includes('-g') && process.phone.android.identity.maker.refusesGrants) {
    await stderr.write(
      "\nException occurred while executing 'install':\njava.lang.SecurityException: You need the android.permission.INSTALL_GRANT_RUNTIME_PERMISSIONS permission to use the PackageManager.INSTALL_GRANT_RUNTIME_PERMISSIONS flag\n",
    );
    return 255;
  }
  try {
    const answer = installApk(process, await readApk(process));
    await stdout.write(answer);
    return answer.startsWith('Success') ? 0 : 1;
  } catch (error) {
    if (!(error instanceof FileSystemError)) throw error;
    await stderr.write(`Error: failed to open file: ${args.at(-1) ?? ''}: ${error.message}\n`);
    return 255;
  }
};

/** What an installed APK is to a phone that can't run its code: an app whose screens are empty. */
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
