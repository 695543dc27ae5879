import { type Command, InvalidArgumentError } from 'commander';

import type { ApiClient } from '../api-client.ts';
import { repeated } from '../repeated.ts';
import type { ConnectionFlags } from '../connection/connection.ts';
import { usageError } from '../exit-codes.ts';
import { parseCount } from './choose-devices.ts';
import { deviceIdOf, listDevices } from './find-device.ts';
import { readParameters } from './parameters.ts';
import { addPhoneSettingOptions, type PhoneSettingFlags, phoneSettingsOf } from './phone-settings.ts';

/** Where and with what a job runs. */
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

/** Where and with what something runs as soon as it can. */
export const addWorkOptions = (command: Command): Command =>
  addPhoneSettingOptions(command)
    .option('--device <device>', 'serial number, name or ID; may be given several times', repeated, [])
    .option('--labels <selector>', 'on devices that fit, such as "country=de,model~Pixel" or "pool=NAME"')
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
  if (device.length > 0 === (labels !== undefined))
    throw usageError('Say where: --device D, or --labels SELECTOR.');
  const devices = device.length > 0 ? await listDevices(api) : [];
  return {
    ...(labels === undefined
      ? { device_ids: device.map((text) => deviceIdOf(devices, text)) }
      : { selector: labels }),
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
