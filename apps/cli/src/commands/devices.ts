import type { Device } from '@phalanx/protocol';
import type { Command } from 'commander';

import { addConnectionOptions, connect, type ConnectionFlags } from '../connection/connection.ts';
import { listDevices } from '../launch/find-device.ts';
import { formatAge } from '../output/duration.ts';
import { printJson, printTable } from '../output/table.ts';
import { addDeviceShareCommands } from './share-phones.ts';

const noDevices =
  'No devices yet. Connect a phone to a host: "phalanx host --help" says how; "phalanx demo" shows a simulated one.';

/** `phalanx devices`: the phones and what state they are in. */
export function addDevicesCommand(program: Command): void {
  const command = program
    .command('devices')
    .description('list your phones: what each can do now, since when, and why')
    .option('--json', "print the API's reply")
    .addHelpText(
      'after',
      `
Where a command takes a device, the serial number and the device ID (--json has it) both do.

Examples:
  phalanx devices
  phalanx devices --json | jq -r '.devices[] | select(.state == "ready") | .device_id'`,
    )
    .action(async (flags: ConnectionFlags & { json?: true }) => {
      const { api } = await connect(flags);
      const devices = await listDevices(api);
      if (flags.json) printJson({ success: true, devices, next_cursor: null });
      else printTable({ flexible: 'reason', rows: devices.map(row) }, noDevices);
    });
  addConnectionOptions(command);
  addDeviceShareCommands(command);
}

const row = (device: Device): Record<string, string> => ({
  device: device.serial,
  state: device.state,
  since: formatAge(device.since),
  model: `${device.brand} ${device.model}`.trim(),
  android: device.android_version,
  running: device.running.length === 0 ? '-' : String(device.running.length),
  reason: device.reason,
});
