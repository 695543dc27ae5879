import type { Device } from '@phalanx/protocol';
import { type Command, InvalidArgumentError } from 'commander';

import { repeated } from '../option-values.ts';
import { CommandError, exitCodes, usageError } from '../exit-codes.ts';
import { quoted } from '../output/printable.ts';
import { deviceIdOf } from './find-by-name.ts';

/** Where something is started. */
export interface PlaceFlags {
  device: string[];
  allReady?: true;
  labels?: string;
  count?: number;
}

/** As the API takes it. */
export type Place = { device_ids: string[] } | { selector: string; count?: number };

export function parseCount(text: string): number {
  const count = Number(text);
  if (Number.isSafeInteger(count) && count >= 1) return count;
  throw new InvalidArgumentError('Give a whole number from 1 on.');
}

export function addPlaceOptions(command: Command): Command {
  return command
    .option('--device <device>', 'serial number, name or ID; may be given several times', repeated, [])
    .option('--all-ready', 'on every device that is ready and runs nothing')
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
    .filter(({ state, role }) => state === 'ready' && role !== 'view')
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

/** What stops `automation` there again. */
export function stopCommand({ device, allReady, labels }: PlaceFlags, automation: string): string {
  const where =
    allReady || labels !== undefined ? '--all' : device.map((text) => `--device ${quoted(text)}`).join(' ');
  return `phalanx stop ${where} ${quoted(automation)}`;
}
