import type { ApiClient } from '@phalanx/client/api-client';
import {
  anyPhone,
  type Device,
  phoneSettingHints,
  type PhoneSettings,
  readPhoneSettings,
} from '@phalanx/protocol';
import { type Command, InvalidArgumentError, type OptionValues } from '@commander-js/extra-typings';

import { repeated } from '../option-values.ts';
import { CommandError, exitCodes, usageError } from '../exit-codes.ts';
import { quoted } from '../output/terminal.ts';
import { deviceIdOf, listDevices } from './find-by-name.ts';
import { readParameters } from './parameters.ts';

/** Options that choose the devices. */
interface PlaceFlags {
  device: string[];
  allReady?: true;
  labels?: string;
  count?: number;
}

/** Choice of devices in the form of the API. */
export type Place = { device_ids: string[] } | { selector: string; count?: number };

export function parseCount(text: string): number {
  const count = Number(text);
  if (Number.isSafeInteger(count) && count >= 1) return count;
  throw new InvalidArgumentError('Expected a whole number, at least 1.');
}

export function addPlaceOptions<Args extends unknown[], Flags extends OptionValues>(
  command: Command<Args, Flags>,
) {
  return command
    .option('--device <device>', 'serial number, name or ID (repeatable)', repeated, [])
    .option('--all-ready', 'all ready and idle devices that you own or have accepted')
    .option('--labels <selector>', 'free devices that match, such as "country=de,model~Pixel" or "pool=NAME"')
    .option('--count <n>', 'with --labels: number of devices; default: all free ones', parseCount);
}

/** Throws a usage error unless exactly one of `--device`, `--all-ready` and `--labels` is given. */
export function requirePlace({ device, allReady, labels, count }: PlaceFlags): void {
  const given = [device.length > 0, allReady === true, labels !== undefined].filter(Boolean).length;
  if (given !== 1)
    throw usageError('Choose the devices: pass --device D (repeatable), --labels SELECTOR, or --all-ready.');
  if (count !== undefined && labels === undefined) throw usageError('--count needs --labels.');
}

export function placeOf(devices: readonly Device[], flags: PlaceFlags): Place {
  const { labels, count } = flags;
  if (labels === undefined) return { device_ids: chooseDevices(devices, flags) };
  return { selector: labels, ...(count === undefined ? {} : { count }) };
}

/** Returns the IDs of the chosen devices, each once. With `--labels`, `devices` must be those that match. */
export function chooseDevices(
  devices: readonly Device[],
  { device, allReady, labels, count }: PlaceFlags,
): string[] {
  if (!allReady && labels === undefined) return [...new Set(device.map((text) => deviceIdOf(devices, text)))];
  const ready = devices
    .filter(({ state, role, accepted }) => state === 'ready' && role !== 'view' && accepted)
    .map((one) => one.device_id);
  const wanted = count ?? 1;
  if (ready.length >= wanted) return ready.slice(0, count);
  const what = labels === undefined ? '' : ` that matches "${labels}"`;
  throw new CommandError(
    exitCodes.refused,
    wanted === 1
      ? `No device${what} is ready: "phalanx devices" shows why.`
      : `Only ${ready.length} of ${wanted} devices${what} are ready: "phalanx devices" shows why.`,
  );
}

/** Returns the command line that stops `automation` on these devices. */
export function stopCommand({ device, allReady, labels }: PlaceFlags, automation: string): string {
  const where =
    allReady || labels !== undefined ? '--all' : device.map((text) => `--device ${quoted(text)}`).join(' ');
  return `phalanx stop ${where} ${quoted(automation)}`;
}

/** Options of jobs. */
interface WorkFlags extends PhoneSettingFlags {
  device: string[];
  labels?: string;
  count?: number;
  param: string[];
  paramsFile?: string;
  priority?: number;
  film?: true;
}

/** Adds the options of work that starts as soon as devices are free. */
export const addWorkOptions = <Args extends unknown[], Flags extends OptionValues>(
  command: Command<Args, Flags>,
) =>
  addPhoneSettingOptions(command)
    .option('--device <device>', 'serial number, name or ID (repeatable)', repeated, [])
    .option(
      '--labels <selector>',
      'devices that match, such as "country=de,model~Pixel" or "pool=NAME"; default: any device',
    )
    .option(
      '--count <n>',
      'without inputs: number of runs, each on another device; with inputs: maximum number of runs at once',
      parseCount,
    )
    .option('--param <name=value>', 'one of the automationParameters (repeatable)', repeated, [])
    .option('--params-file <file>', 'JSON file with the automationParameters')
    .option(
      '--priority <n>',
      'priority among your own jobs, from -100 to 100; higher starts first',
      parsePriority,
    )
    .option(
      '--film',
      'record a film of each run: a video of its screen, or pictures if video is not possible',
    );

/** Returns the part of a request body that the options of `addWorkOptions` set. */
export async function workOf(api: ApiClient, flags: WorkFlags) {
  const { device, labels, count, priority, film, param, paramsFile } = flags;
  if (device.length > 0 && labels !== undefined)
    throw usageError('Pass either --device or --labels, not both; without them, any device is used.');
  const devices = device.length > 0 ? await listDevices(api) : [];
  return {
    ...(device.length > 0
      ? { device_ids: device.map((text) => deviceIdOf(devices, text)) }
      : { selector: labels ?? anyPhone }),
    ...(count === undefined ? {} : { count }),
    ...(priority === undefined ? {} : { priority }),
    ...(film === undefined ? {} : { film }),
    ...phoneSettingsOf(flags),
    parameters: await readParameters('param', param, paramsFile),
  };
}

function parsePriority(text: string): number {
  const priority = Number(text);
  if (Number.isInteger(priority) && Math.abs(priority) <= 100) return priority;
  throw new InvalidArgumentError('Expected a whole number from -100 to 100.');
}

/** Settings that are made on the phones before the code starts. */
interface PhoneSettingFlags {
  proxy?: string;
  phoneTimeZone?: string;
  locale: string[];
  location?: string;
  brightness?: string;
  headsUp?: string;
}

export const addPhoneSettingOptions = <Args extends unknown[], Flags extends OptionValues>(
  command: Command<Args, Flags>,
) =>
  command
    .option('--proxy <host:port>', 'HTTP proxy of the phone during the run')
    .option('--phone-time-zone <zone>', 'time zone of the phone during the run, such as Europe/Berlin')
    .option(
      '--locale <app=tag>',
      'language of an app during the run, such as com.example.shop=de-DE (repeatable)',
      repeated,
      [],
    )
    .option('--location <lat,lon>', 'location that apps on the phone get during the run')
    .option('--brightness <n>', 'screen brightness during the run, from 0 to 255')
    .option('--heads-up <on|off>', 'notifications at the top of the screen during the run');

const optionOf = {
  http_proxy: '--proxy',
  time_zone: '--phone-time-zone',
  locale: '--locale',
  location: '--location',
  brightness: '--brightness',
  heads_up: '--heads-up',
} as const;

/** Returns the part of a request body that the options of `addPhoneSettingOptions` set. */
export function phoneSettingsOf(flags: PhoneSettingFlags): { phone_settings?: PhoneSettings } {
  const { proxy, phoneTimeZone, locale, location, brightness, headsUp } = flags;
  const texts = {
    http_proxy: proxy,
    time_zone: phoneTimeZone,
    locale: locale.join(','),
    location,
    brightness,
    heads_up: headsUp,
  };
  const { settings, wrong } = readPhoneSettings(texts);
  const [first] = wrong;
  if (first !== undefined) throw usageError(`${optionOf[first]} takes ${phoneSettingHints[first]}.`);
  return settings === undefined ? {} : { phone_settings: settings };
}
