import type { Process, Program } from '../program.ts';
import { am } from './am.ts';
import { input } from './input.ts';
import { notificationKey } from './notification-dump.ts';
import { pm } from './pm.ts';
import { wm } from './wm.ts';

const firstWithLocation = 31;
const firstWithLocales = 33;
const firstWithAlarm = 28;

async function raise({ stderr, args }: Process, exception: string): Promise<number> {
  await stderr.write(`\nException occurred while executing '${args[0] ?? ''}':\njava.lang.${exception}\n`);
  return 255;
}

async function noSuchCommand({ stderr }: Process): Promise<number> {
  await stderr.write('No shell command implementation.\n');
  return 1;
}

/** Sets the time zone. Android treats an unknown one as GMT. */
function setTimeZone({ phone }: Process, zone: string): void {
  phone.android.properties.set('persist.sys.timezone', isTimeZone(zone) ? zone : 'GMT');
}

function isTimeZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** Runs `cmd alarm set-timezone ZONE`. */
const alarm: Program = async (process) => {
  const [command, zone] = process.args;
  if (process.phone.android.identity.sdkVersion < firstWithAlarm) return noSuchCommand(process);
  if (command !== 'set-timezone' || zone === undefined)
    return raise(process, `IllegalArgumentException: Unknown command: ${command ?? ''}`);
  setTimeZone(process, zone);
  return 0;
};

const setTimeZoneCode = '3';

/** Runs `service call alarm 3 s16 ZONE`: the raw call, for releases whose alarm service has no commands. */
export const service: Program = async (process) => {
  const [command, name, code, type, text] = process.args;
  if (command !== 'call' || name !== 'alarm' || code !== setTimeZoneCode || type !== 's16') {
    await process.stdout.write(`service: Service ${name ?? ''} does not exist\n`);
    return 10;
  }
  if (text !== undefined) setTimeZone(process, text);
  await process.stdout.write("Result: Parcel(00000000    '....')\n");
  return 0;
};

/** Runs `cmd locale get-app-locales PACKAGE` and `set-app-locales PACKAGE --locales TAGS`. */
const locale: Program = async (process) => {
  const { phone, args, stdout } = process;
  const [command, name = ''] = args;
  const user = '0';
  const { packages, identity } = phone.android;
  if (identity.sdkVersion < firstWithLocales) return noSuchCommand(process);
  if (packages.find(name) === undefined) {
    await stdout.write(`Unknown package ${name} for userId ${user}\n`);
    return 0;
  }
  if (command === 'get-app-locales')
    await stdout.write(`Locales for ${name} for user ${user} are [${packages.localesOf(name)}]\n`);
  else if (command === 'set-app-locales') {
    const at = args.indexOf('--locales');
    packages.setLocales(name, at === -1 ? '' : (args[at + 1] ?? ''));
  } else return raise(process, `IllegalArgumentException: Unknown command: ${command ?? ''}`);
  return 0;
};

const wordAfter = (args: readonly string[], option: string): string | undefined =>
  args.includes(option) ? args[args.indexOf(option) + 1] : undefined;

/** Runs `cmd location set-location-enabled true|false` and `cmd location providers …`. */
const location: Program = async (process) => {
  const { phone, args, stdout } = process;
  const { locations, identity } = phone.android;
  if (identity.sdkVersion < firstWithLocation) return noSuchCommand(process);
  if (args[0] === 'set-location-enabled') locations.isOn = args.at(-1) === 'true';
  else if (args[0] === 'is-location-enabled') await stdout.write(`${locations.isOn}\n`);
  else if (args[0] === 'providers') return provider(process);
  else return raise(process, `IllegalArgumentException: Unknown command: ${args[0] ?? ''}`);
  return 0;
};

async function provider(process: Process): Promise<number> {
  const [, command, name = ''] = process.args;
  const { locations } = process.phone.android;
  // Without permission of the app op, the command silently does nothing.
  const isAllowed = locations.mockMode === 'allow';
  if (command === 'add-test-provider') {
    if (isAllowed) locations.testProviders.set(name, { isEnabled: false, fix: undefined, fixes: 0 });
    return 0;
  }
  const test = locations.testProviders.get(name);
  if (!isAllowed) return 0;
  if (test === undefined) {
    return command === 'remove-test-provider'
      ? 0
      : raise(process, `IllegalArgumentException: provider "${name}" is not a test provider`);
  }
  if (command === 'remove-test-provider') locations.testProviders.delete(name);
  else if (command === 'set-test-provider-enabled') test.isEnabled = process.args[3] === 'true';
  else if (command === 'set-test-provider-location') {
    const [latitude, longitude] = (wordAfter(process.args, '--location') ?? '').split(',').map(Number);
    if (latitude === undefined || longitude === undefined || Number.isNaN(latitude + longitude))
      return raise(
        process,
        'IllegalArgumentException: Location argument must be in the form of "<LATITUDE>,<LONGITUDE>"',
      );
    const accuracy = Number(wordAfter(process.args, '--accuracy') ?? 100);
    test.fix = { latitude, longitude, accuracy };
    test.fixes += 1;
  } else return raise(process, `IllegalArgumentException: Unknown command: ${command ?? ''}`);
  return 0;
}

/** Runs `appops get|set com.android.shell android:mock_location [MODE]`. */
export const appops: Program = async (process) => {
  const { phone, args, stdout, stderr } = process;
  const [command, name, operation, mode] = args;
  if (name !== 'com.android.shell' || operation !== 'android:mock_location') {
    await stderr.write(`Error: Unknown operation or package: ${args.join(' ')}\n`);
    return 255;
  }
  const { locations } = phone.android;
  if (command === 'set') locations.mockMode = mode ?? 'default';
  else if (locations.mockMode === 'default') await stdout.write('No operations.\nDefault mode: deny\n');
  else await stdout.write(`MOCK_LOCATION: ${locations.mockMode}\n`);
  return 0;
};

const builtIn = 'com.android.inputmethod.latin/.LatinIME';

/** Runs `settings get|put|delete|list NAMESPACE [KEY [VALUE]]`. */
export const settings: Program = async ({ phone, args, stdout, stderr }) => {
  if (!phone.isBooted || phone.faults.missingServices.includes('settings')) {
    await stderr.write("cmd: Can't find service: settings\n");
    return 20;
  }
  const words = args[0] === '--user' ? args.slice(2) : args;
  const [command, namespace, key, value] = words;
  const table = phone.android.settings.findTable(namespace);
  if (!table) {
    await stderr.write(`Error: Invalid namespace '${namespace ?? ''}'\n`);
    return 255;
  }
  if (command === 'list') {
    for (const [name, content] of table) await stdout.write(`${name}=${content}\n`);
    return 0;
  }
  if (key === undefined || (command === 'put' && value === undefined)) {
    await stderr.write('Error: Bad arguments\n');
    return 255;
  }
  if (phone.faults.restrictedDebugging && namespace !== 'system' && command !== 'get') {
    const lacking =
      'Permission denial: writing to settings requires:android.permission.WRITE_SECURE_SETTINGS';
    await stderr.write(
      `\nException occurred while executing '${command ?? ''}':\njava.lang.SecurityException: ${lacking}\n`,
    );
    return 255;
  }
  if (command === 'put' && phone.faults.keepsSettings) return 0;
  if (command === 'put') phone.android.settings.put(table, key, value ?? '');
  else if (command === 'get') await stdout.write(`${table.get(key) ?? 'null'}\n`);
  else if (command === 'delete') await stdout.write(`Deleted ${table.delete(key) ? 1 : 0} rows\n`);
  else {
    await stderr.write(`Error: Unknown command: ${command ?? ''}\n`);
    return 255;
  }
  return 0;
};

/** Runs `ime list -s`, `ime enable|set ID`, `ime reset`. */
export const ime: Program = async ({ phone, args, stdout, stderr }) => {
  const [command, id] = args;
  const secure = phone.android.settings.findTable('secure');
  if (command === 'list') await stdout.write(`${builtIn}\n`);
  else if (command === 'reset') {
    secure?.set('default_input_method', builtIn);
    await stdout.write('Reset current and enabled IMEs for user #0\n');
  } else if (id === builtIn) {
    secure?.set('default_input_method', id);
    await stdout.write(
      command === 'set'
        ? `Input method ${id} selected for user #0\n`
        : `Input method ${id}: already enabled for user #0\n`,
    );
  } else {
    await stderr.write(
      `Unknown input method ${id ?? ''} cannot be ${command === 'set' ? 'selected' : 'enabled'} for user #0\n`,
    );
    return 255;
  }
  return 0;
};

const statusBar: Program = async ({ phone, args, stderr }) => {
  const [command] = args;
  const isOpening = command === 'expand-notifications' || command === 'expand-settings';
  // A disabled status bar stays closed, and no error is reported.
  if (isOpening) phone.android.setOverlay(phone.faults.statusBarDisabled ? undefined : 'shade');
  else if (command === 'collapse') phone.android.setOverlay(undefined);
  else {
    await stderr.write(`Unknown command: ${command ?? ''}\n`);
    return 255;
  }
  return 0;
};

const firstWithNotificationKeys = 30;

/**
 * Runs `cmd notification list`, which prints the keys of the shade's notifications (AOSP, NotificationShellCmd.java).
 */
const notification: Program = async (process) => {
  const { phone, args, stdout } = process;
  if (args[0] !== 'list' || phone.android.identity.sdkVersion < firstWithNotificationKeys)
    return raise(process, `IllegalArgumentException: Unknown command: ${args[0] ?? ''}`);
  for (const posted of phone.android.notices.notifications)
    await stdout.write(`${notificationKey(posted)}\n`);
  return 0;
};

const services: ReadonlyMap<string, Program> = new Map([
  ['activity', am],
  ['alarm', alarm],
  ['input', input],
  ['input_method', ime],
  ['locale', locale],
  ['location', location],
  ['notification', notification],
  ['package', pm],
  ['settings', settings],
  ['statusbar', statusBar],
  ['window', wm],
]);

const noServiceExitCode = 20;
const needBoot = new Set(['activity', 'package', 'window']);

/** Runs `cmd SERVICE ARGS`, the shell commands of system services. */
export const cmd: Program = async (process) => {
  const [name, ...args] = process.args;
  if (name === '-l') {
    await process.stdout.write(`Currently running services:\n  ${[...services.keys()].join('\n  ')}\n`);
    return 0;
  }
  const found = services.get(name ?? '');
  const { isBooted, faults } = process.phone;
  const isMissing = (needBoot.has(name ?? '') && !isBooted) || faults.missingServices.includes(name ?? '');
  if (found && !isMissing) return found({ ...process, args });
  await process.stderr.write(
    name === undefined
      ? 'cmd: No service specified; use -l to list all services\n'
      : `cmd: Can't find service: ${name}\n`,
  );
  return noServiceExitCode;
};
