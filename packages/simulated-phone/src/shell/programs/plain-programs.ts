import { createHash } from 'node:crypto';
import { pause } from '../../pause.ts';
import type { Process, Program } from '../program.ts';

const getprop: Program = async ({ phone, args, stdout }) => {
  const { properties } = phone.android;
  const [name, fallback = ''] = args;
  const valueOf = (key: string) => {
    const isBootProperty = key === 'sys.boot_completed' || key === 'dev.bootcomplete';
    return isBootProperty && !phone.isBooted ? '' : (properties.get(key) ?? '');
  };
  if (name !== undefined) await stdout.write(`${valueOf(name) || fallback}\n`);
  else for (const key of properties.keys()) await stdout.write(`[${key}]: [${valueOf(key)}]\n`);
  return 0;
};

const setprop: Program = async ({ phone, args, stderr }) => {
  const [name, value] = args;
  if (name === undefined || value === undefined) {
    await stderr.write('usage: setprop NAME VALUE\n');
    return 1;
  }
  if (/^(?:ro|sys|persist)\./.test(name)) {
    await stderr.write(`Failed to set property '${name}' to '${value}'.\nSee dmesg for error reason.\n`);
    return 1;
  }
  if (phone.android.properties.size < 1000) phone.android.properties.set(name, value);
  return 0;
};

/** Prints sizes in blocks of 1 KiB, like toybox. */
const df: Program = async ({ phone, stdout }) => {
  const { sizeBytes, freeBytes } = phone.android.files.storage;
  const [size, free] = [Math.ceil(sizeBytes / 1024), Math.floor(freeBytes / 1024)];
  const used = size - free;
  const percent = Math.ceil((100 * used) / size);
  await stdout.write(
    `Filesystem       1K-blocks     Used Available Use% Mounted on\n/dev/block/dm-47 ${size} ${used} ${free} ${percent}% /data\n`,
  );
  return 0;
};

/** Runs `ip addr show wlan0`, which prints no address while Wi-Fi is off. */
const ip: Program = async ({ phone, stdout }) => {
  const isOn = phone.android.settings.findTable('global')?.get('wifi_on') !== '0';
  await stdout.write(
    `26: wlan0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 state ${isOn ? 'UP' : 'DOWN'}\n${isOn ? '    inet 192.168.7.23/24 brd 192.168.7.255 scope global wlan0\n' : ''}`,
  );
  return 0;
};

const shellUser = 'uid=2000(shell) gid=2000(shell) groups=2000(shell),1003(graphics),1004(input),3003(inet)';

/** Runs mksh's echo: backslash escapes work, -n omits the line break. */
const echo: Program = async ({ args, stdout }) => {
  const isOpen = args[0] === '-n';
  const words = /^-[neE]+$/.test(args[0] ?? '') ? args.slice(1) : args;
  await stdout.write(words.join(' ').replace(/\\n/g, '\n').replace(/\\t/g, '\t') + (isOpen ? '' : '\n'));
  return 0;
};

const sleep: Program = async ({ args, signal, stderr }) => {
  const seconds = Number(args[0]?.replace(/s$/, ''));
  if (!Number.isFinite(seconds) || seconds < 0) {
    await stderr.write('usage: sleep DURATION...\n');
    return 1;
  }
  await pause(signal, Math.min(seconds, 86_400) * 1000);
  return 0;
};

const svc: Program = ({ phone, args }) => {
  const [service, state = '', argument] = args;
  if (service === 'wifi' || service === 'data') {
    phone.android.settings.findTable('global')?.set(`${service}_on`, state === 'enable' ? '1' : '0');
  }
  if (service === 'power' && state === 'stayon' && argument !== undefined) {
    phone.android.settings
      .findTable('global')
      ?.set('stay_on_while_plugged_in', argument === 'false' ? '0' : '7');
  }
  return 0;
};

/** Prints no past entries; without -d it stays open until the peer disconnects, like the real one. */
const logcat: Program = async ({ args, stdout, signal }) => {
  if (args.includes('-c')) return 0;
  await stdout.write('--------- beginning of main\n');
  if (!args.includes('-d') && !args.includes('-t')) await pause(signal, 2 ** 31 - 1);
  return 0;
};

const print =
  (text: (process: Process) => string): Program =>
  async (process) => {
    await process.stdout.write(`${text(process)}\n`);
    return 0;
  };

const sha256sum: Program = async ({ phone, args, stdout, stderr }) => {
  for (const path of args) {
    if (!phone.android.files.findStat(path)) {
      await stderr.write(`sha256sum: ${path}: No such file or directory\n`);
      return 1;
    }
    const hash = createHash('sha256').update(phone.android.files.readFile(path)).digest('hex');
    await stdout.write(`${hash}  ${path}\n`);
  }
  return 0;
};

const pidof: Program = async ({ phone, args, stdout }) => {
  const found = args.flatMap((name) => phone.android.stack.processesOf(name));
  if (found.length > 0) await stdout.write(`${found.join(' ')}\n`);
  return found.length > 0 ? 0 : 1;
};

export const plainPrograms: readonly (readonly [string, Program])[] = [
  ['getprop', getprop],
  ['setprop', setprop],
  ['sha256sum', sha256sum],
  ['echo', echo],
  ['pidof', pidof],
  ['sleep', sleep],
  ['svc', svc],
  ['logcat', logcat],
  ['df', df],
  ['ip', ip],
  ['true', () => 0],
  [':', () => 0],
  ['false', () => 1],
  ['cd', () => 0],
  ['sync', () => 0],
  ['export', () => 0],
  ['id', print(() => `${shellUser} context=u:r:shell:s0`)],
  ['whoami', print(() => 'shell')],
  ['pwd', print(() => '/')],
  ['uname', print(({ args }) => (args.includes('-m') ? 'aarch64' : 'Linux'))],
  [
    'date',
    print(({ args }) =>
      args[0] === '+%s' ? String(Math.floor(Date.now() / 1000)) : new Date().toUTCString(),
    ),
  ],
];
