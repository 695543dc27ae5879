import { apkPath, mainUser } from '../../android/packages/packages.ts';
import { type Process, type Program, usersProblem, userOf } from '../program.ts';
import { install, installAbandon, installCommit, installCreate, installWrite } from './install.ts';

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

/** What Android answers when several activities fit. */
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

/** The package manager's command; `cmd package` is the same. */
export const pm: Program = async (process) => {
  if (!process.phone.isBooted) {
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
