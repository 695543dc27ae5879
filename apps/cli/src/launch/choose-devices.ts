import type { Device } from '@phalanx/protocol';
import type { Command } from 'commander';

import { repeated } from '../commands/repeated.ts';
import { CommandError, exitCodes, usageError } from '../exit-codes.ts';
import { quoted } from '../output/quoted.ts';
import { deviceIdOf } from './find-device.ts';

/** Where something is started. */
export interface PlaceFlags {
  device: string[];
  allReady?: true;
}

export function addPlaceOptions(command: Command): Command {
  return command
    .option('--device <device>', 'serial number or device ID; may be given several times', repeated, [])
    .option('--all-ready', 'on every device that is ready and runs nothing');
}

/** Throws a usage error unless one of the two is given. */
export function requirePlace({ device, allReady }: PlaceFlags): void {
  if (device.length > 0 === (allReady === true))
    throw usageError('Say where: --device D (several times for several), or --all-ready.');
}

/** Their IDs, each once. */
export function chooseDevices(devices: readonly Device[], { device, allReady }: PlaceFlags): string[] {
  if (!allReady) return [...new Set(device.map((text) => deviceIdOf(devices, text)))];
  const ready = devices.filter(({ state }) => state === 'ready').map((one) => one.device_id);
  if (ready.length > 0) return ready;
  throw new CommandError(exitCodes.refused, 'No device is ready: "phalanx devices" says why.');
}

/** What stops `automation` there again. */
export function stopCommand({ device, allReady }: PlaceFlags, automation: string): string {
  const where = allReady ? '--all' : device.map((text) => `--device ${quoted(text)}`).join(' ');
  return `phalanx stop ${where} ${quoted(automation)}`;
}
