import {
  anyPhone,
  type Device,
  phoneSettingHints,
  type PhoneSettings,
  readPhoneSettings,
} from '@phalanx/protocol';
import { type Command, InvalidArgumentError } from 'commander';

import { repeated } from '../option-values.ts';
import { CommandError, exitCodes, usageError } from '../exit-codes.ts';
import { quoted } from '../output/terminal.ts';
import { deviceIdOf, listDevices } from './find-by-name.ts';
import type { ApiClient } from '../api-client.ts';
import type { ConnectionFlags } from '../connection/connection.ts';
import { readParameters } from './parameters.ts';

/** Options that choose the devices. */
export interface PlaceFlags {
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
  throw new InvalidArgumentError('Give a whole number from 1 on.');
}

export function addPlaceOptions(command: Command): Command {
  return command
    .option('--device <device>', 'serial number, name or ID; may be given several times', repeated, [])
    .option('--all-ready', 'on every device of yours, or accepted, that is ready and runs nothing')
    .option(
      '--labels <selector>',
      'on free devices that fit, such as "country=de,model~Pixel" or "pool=NAME"',
    )
    .option('--count <n>', 'with --labels: on so many of them; without it, on each that is free', parseCount);
}

/** Throws a usage error unless one of the three is given. */
export function requirePlace({ device, allReady, labels, count }: PlaceFlags): void {
  const given = [device.length > 0, allReady === true, labels !== undefined].filter(Boolean).length;
  if (given !== 1)
    throw usageError('Say where: --device D (several times for several), --labels SELECTOR, or --all-ready.');
  if (count !== undefined && labels === undefined) throw usageError('--count needs --labels.');
}

export function placeOf(devices: readonly Device[], flags: PlaceFlags): Place {
  const { labels, count } = flags;
  if (labels === undefined) return { device_ids: chooseDevices(devices, flags) };
  return { selector: labels, ...(count === undefined ? {} : { count }) };
}

/** Their IDs, each once; with `--labels`, `devices` are those that it selects. */
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
  const what = labels === undefined ? '' : ` that fits "${labels}"`;
  throw new CommandError(
    exitCodes.refused,
    wanted === 1
      ? `No device${what} is ready: "phalanx devices" says why.`
      : `Only ${ready.length} of ${wanted} devices${what} are ready: "phalanx devices" says why.`,
  );
}

/** Command line that stops `automation` on these devices. */
export function stopCommand({ device, allReady, labels }: PlaceFlags, automation: string): string {
  const where =
    allReady || labels !== undefined ? '--all' : device.map((text) => `--device ${quoted(text)}`).join(' ');
  return `phalanx stop ${where} ${quoted(automation)}`;
}

/** Options of jobs. */
export interface WorkFlags extends ConnectionFlags, PhoneSettingFlags {
  device: string[];
  labels?: string;
  count?: number;
  param: string[];
  paramsFile?: string;
  priority?: number;
  film?: true;
  json?: true;
}

/** Adds the options of work that runs as soon as it can. */
export const addWorkOptions = (command: Command): Command =>
  addPhoneSettingOptions(command)
    .option('--device <device>', 'serial number, name or ID; may be given several times', repeated, [])
    .option(
      '--labels <selector>',
      'on devices that fit, such as "country=de,model~Pixel" or "pool=NAME"; without it and --device, on any',
    )
    .option(
      '--count <n>',
      'without inputs: so many runs, each on another device; with inputs: the most at once',
      parseCount,
    )
    .option(
      '--param <name=value>',
      'one of the automationParameters; may be given several times',
      repeated,
      [],
    )
    .option('--params-file <file>', 'JSON file with the automationParameters')
    .option('--priority <n>', 'among your own jobs, from -100 to 100; greater begins first', parsePriority)
    .option('--film', 'make a film of each run: a video of its screen, or pictures where there can be none')
    .option('--json', "print the API's reply");

/** The part of a body that `addWorkOptions` gives. */
export async function workOf(api: ApiClient, flags: WorkFlags) {
  const { device, labels, count, priority, film, param, paramsFile } = flags;
  if (device.length > 0 && labels !== undefined)
    throw usageError('Say where by --device or by --labels, not by both; without them any device is used.');
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
  throw new InvalidArgumentError('Give a whole number from -100 to 100.');
}

/** Settings that are made on the phones before the code starts. */
export interface PhoneSettingFlags {
  proxy?: string;
  phoneTimeZone?: string;
  locale: string[];
  location?: string;
  brightness?: string;
  headsUp?: string;
}

export const addPhoneSettingOptions = (command: Command): Command =>
  command
    .option('--proxy <host:port>', 'HTTP proxy of the phone while the run goes on')
    .option('--phone-time-zone <zone>', 'time zone of the phone while the run goes on, such as Europe/Berlin')
    .option(
      '--locale <app=tag>',
      'language of an app while the run goes on, such as com.example.shop=de-DE; several times for several apps',
      repeated,
      [],
    )
    .option('--location <lat,lon>', 'where apps are told that the phone is while the run goes on')
    .option('--brightness <n>', 'of the screen while the run goes on, from 0 to 255')
    .option('--heads-up <on|off>', 'notifications over the top of the screen while the run goes on');

const optionOf = {
  http_proxy: '--proxy',
  time_zone: '--phone-time-zone',
  locale: '--locale',
  location: '--location',
  brightness: '--brightness',
  heads_up: '--heads-up',
} as const;

/** The part of a body that `addPhoneSettingOptions` gives. */
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
