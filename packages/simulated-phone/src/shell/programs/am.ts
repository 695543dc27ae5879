import { mainUser } from '../../android/packages/packages.ts';
import { pause } from '../../pause.ts';
import { type Process, type Program, userOf, usersProblem } from '../program.ts';

/** Parses options with a value, keyed by letter; all other arguments are words. */
function parseOptions(args: readonly string[]): {
  options: Map<string, string>;
  flags: Set<string>;
  words: string[];
} {
  const options = new Map<string, string>();
  const flags = new Set<string>();
  const words: string[] = [];
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? '';
    if (/^(?:-n|-a|-c|-d|-t|-f|-p|--user|--display|--activity)$/.test(arg))
      options.set(arg, args[++index] ?? '');
    else if (/^--?(?:e|es|ez|ei|el|ef|eu)$/.test(arg)) index += 2;
    else if (arg.startsWith('-')) flags.add(arg);
    else words.push(arg);
  }
  return { options, flags, words };
}

/** Splits `pkg/.Name` or `pkg/pkg.Name`; the class is returned as the app declares it. */
function splitComponent(component: string): { packageName: string; className: string } {
  const [packageName = '', name = ''] = component.split('/', 2);
  return {
    packageName,
    className: name.startsWith(`${packageName}.`) ? name.slice(packageName.length) : name,
  };
}

interface Target {
  readonly packageName: string;
  readonly className: string | undefined;
}

function findTarget({ phone }: Process, args: readonly string[]): Target | undefined {
  const { options, words } = parseOptions(args);
  const component = options.get('-n') ?? words.find((word) => word.includes('/'));
  if (component !== undefined) return splitComponent(component);
  if (options.get('-c') === 'android.intent.category.HOME') {
    const home = phone.android.listApps().find((app) => app.isHome);
    return home && { packageName: home.packageName, className: undefined };
  }
  if (options.get('-a') === 'android.settings.SETTINGS') {
    return { packageName: 'com.android.settings', className: '.SettingsActivity' };
  }
  const link = options.get('-d');
  if (link !== undefined) {
    const app = phone.android
      .listApps()
      .find(
        ({ links, packageName }) =>
          links.some((head) => link.startsWith(head)) && packageName === (options.get('-p') ?? packageName),
      );
    return app && { packageName: app.packageName, className: undefined };
  }
  const packageName = options.get('-p') ?? words[0];
  return packageName === undefined ? undefined : { packageName, className: undefined };
}

/**
 * Shortens a web address to its host and keeps any other address (AOSP, core/java/android/net/Uri.java,
 * toSafeString).
 */
const shownAddress = (address: string): string => address.replace(/^(https?:\/\/[^/]*)\/.*$/s, '$1/...');

function intentText(args: readonly string[], target: Target | undefined): string {
  const { options } = parseOptions(args);
  const action = options.get('-a');
  const data = options.get('-d');
  const component = target?.className && `cmp=${target.packageName}/${target.className}`;
  return [
    'Intent {',
    action && `act=${action}`,
    options.get('-c') && `cat=[${options.get('-c')}]`,
    data && `dat=${shownAddress(data)}`,
    component,
    '}',
  ]
    .filter(Boolean)
    .join(' ');
}

/** Waits for `-W` until the activity is drawn, which never happens on a dark screen. */
async function untilDrawn({ phone, signal }: Process): Promise<void> {
  while (!phone.android.isScreenOn && !signal.aborted) await pause(signal, drawnPollMs);
}

const drawnPollMs = 50;

const start: Program = async (process) => {
  const { phone, args, stdout, stderr } = process;
  const { android } = phone;
  const { flags } = parseOptions(args);
  const target = findTarget(process, args);
  await stdout.write(`Starting: ${intentText(args, target)}\n`);
  const user = userOf(args);
  const app = target && android.findApp(target.packageName, user);
  const wasRunning = target !== undefined && android.stack.find(target.packageName, user) !== undefined;
  if (flags.has('-S') && target) android.forceStop(target.packageName, user);
  if (!target || !app || !android.startActivity(target.packageName, target.className, user)) {
    const name =
      target?.className === undefined
        ? ''
        : `{${target.packageName}/${target.packageName}${target.className}}`;
    await stderr.write(
      name === ''
        ? `Error: Activity not started, unable to resolve ${intentText(args, target)}\n`
        : `Error type 3\nError: Activity class ${name} does not exist.\n`,
    );
    return 1;
  }
  if (!flags.has('-W')) return 0;
  await untilDrawn(process);
  const activity = android.currentActivity.replace(`/${target.packageName}.`, '/.');
  const launchState = wasRunning && !flags.has('-S') ? 'HOT' : 'COLD';
  await stdout.write(
    `Status: ok\nLaunchState: ${launchState}\nActivity: ${activity}\nTotalTime: 214\nWaitTime: 221\nComplete\n`,
  );
  return 0;
};

const forceStop: Program = ({ phone, args }) => {
  const name = parseOptions(args).words[0] ?? '';
  const user = userOf(args);
  if (phone.faults.protectedApps.includes(name)) return 0;
  phone.android.forceStop(name, user);
  if (user === mainUser) phone.instrumentation.stopPackage(name);
  return 0;
};

const instrument: Program = async (process) => {
  if (process.args.includes('--no-hidden-api-checks') && !process.phone.android.identity.release.hidesApis) {
    await process.stderr.write('Error: Unknown option: --no-hidden-api-checks\n');
    return 1;
  }
  const component = process.args.findLast((arg) => arg.includes('/')) ?? '';
  return process.phone.instrumentation.run(component, process, process.args.includes('-w'));
};

const scanAction = 'android.intent.action.MEDIA_SCANNER_SCAN_FILE';
/** Last SDK with this broadcast; newer ones scan through MediaStore. */
const lastSdkOfScan = 29;

const broadcast: Program = async ({ phone, args, stdout }) => {
  const { options } = parseOptions(args);
  const { identity, mediaStore } = phone.android;
  const address = options.get('-d');
  if (options.get('-a') === scanAction && address !== undefined && identity.sdkVersion <= lastSdkOfScan)
    mediaStore.scan(decodeURIComponent(address.replace(/^file:\/\//, '')));
  await stdout.write(`Broadcasting: ${intentText(args, undefined)}\nBroadcast completed: result=0\n`);
  return 0;
};

const startedUserState: Program = async ({ phone, stdout }) => {
  await stdout.write(phone.android.boot.isUserUnlocked ? 'RUNNING_UNLOCKED\n' : 'RUNNING_LOCKED\n');
  return 0;
};

const getCurrentUser: Program = async ({ stdout }) => {
  await stdout.write('0\n');
  return 0;
};

const commands: ReadonlyMap<string, Program> = new Map([
  ['start', start],
  ['start-activity', start],
  ['force-stop', forceStop],
  ['kill', forceStop],
  ['instrument', instrument],
  ['broadcast', broadcast],
  ['startservice', broadcast],
  ['start-foreground-service', broadcast],
  ['get-current-user', getCurrentUser],
  ['get-started-user-state', startedUserState],
]);

/** Command of the activity manager. */
export const am: Program = async (process) => {
  if (!process.phone.isBooted || process.phone.faults.missingServices.includes('activity')) {
    await process.stderr.write("cmd: Can't find service: activity\n");
    return 20;
  }
  const [name = '', ...args] = process.args;
  const problem = usersProblem(process.phone, args);
  if (problem !== undefined) {
    await process.stderr.write(`\nException occurred while executing '${name}':\njava.lang.${problem}\n`);
    return 255;
  }
  const command = commands.get(name);
  if (command) return command({ ...process, args });
  await process.stderr.write(`Unknown command: ${name}\n`);
  return 255;
};

/** Runs `monkey -p PACKAGE -c CATEGORY 1`, which starts an app without knowing its activity. */
export const monkey: Program = async ({ phone, args, stdout, stderr }) => {
  const packageName = args[args.indexOf('-p') + 1] ?? '';
  await stdout.write(`  bash arg: ${args.join('\n  bash arg: ')}\n`);
  if (!args.includes('-p') || !phone.android.startActivity(packageName)) {
    await stderr.write('** No activities found to run, monkey aborted.\n');
    return 252;
  }
  await stdout.write(
    'Events injected: 1\n## Network stats: elapsed time=21ms (0ms mobile, 0ms wifi, 21ms not connected)\n',
  );
  return 0;
};
