import type { Program } from '../program.ts';
import { am } from './am.ts';
import { ime, settings } from './settings.ts';
import { input } from './input.ts';
import { pm } from './pm.ts';
import { alarm, locale, location } from './service-commands.ts';
import { wm } from './wm.ts';

const statusBar: Program = async ({ phone, args, stderr }) => {
  const [command] = args;
  if (command === 'expand-notifications' || command === 'expand-settings') phone.android.setOverlay('shade');
  else if (command === 'collapse') phone.android.setOverlay(undefined);
  else {
    await stderr.write(`Unknown command: ${command ?? ''}\n`);
    return 255;
  }
  return 0;
};

const services: ReadonlyMap<string, Program> = new Map([
  ['activity', am],
  ['alarm', alarm],
  ['input', input],
  ['input_method', ime],
  ['locale', locale],
  ['location', location],
  ['package', pm],
  ['settings', settings],
  ['statusbar', statusBar],
  ['window', wm],
]);

const noServiceExitCode = 20;
const needBoot = new Set(['activity', 'package', 'window']);

/** `cmd SERVICE ARGS`: the shell commands of system services. */
export const cmd: Program = async (process) => {
  const [name, ...args] = process.args;
  if (name === '-l') {
    await process.stdout.write(`Currently running services:\n  ${[...services.keys()].join('\n  ')}\n`);
    return 0;
  }
  const service = services.get(name ?? '');
  const isMissing = needBoot.has(name ?? '') && !process.phone.isBooted;
  if (service && !isMissing) return service({ ...process, args });
  await process.stderr.write(
    name === undefined
      ? 'cmd: No service specified; use -l to list all services\n'
      : `cmd: Can't find service: ${name}\n`,
  );
  return noServiceExitCode;
};
