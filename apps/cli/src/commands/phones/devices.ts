import { type Device, deviceRoutes } from '@phalanx/protocol';
import type { Command } from 'commander';

import { addConnectionOptions, connect, type ConnectionFlags } from '../../connection/connection.ts';
import { deviceIdOf, listDevices } from '../../launch/find-device.ts';
import { formatAge } from '../../output/duration.ts';
import { printable } from '../../output/printable.ts';
import { printJson, printTable } from '../../output/table.ts';
import { addDeviceLabelCommands, labelsText } from './label-phones.ts';
import { addDeviceShareCommands } from './share-phones.ts';

const noDevices =
  'No devices yet. Connect a phone to a host: "phalanx host --help" says how; "phalanx demo" shows a simulated one.';

/** `phalanx devices`: the phones and what state they are in. */
export function addDevicesCommand(program: Command): void {
  const command = program
    .command('devices')
    .description('list your phones: what each can do now, since when, and why')
    .option('--labels <selector>', 'only those that fit, such as "country=de,model~Pixel" or "pool=NAME"')
    .option('--json', "print the API's reply")
    .addHelpText(
      'after',
      `
Where a command takes a device, its serial number, its name and its device ID (--json has it) all do.

Examples:
  phalanx devices
  phalanx devices --json | jq -r '.devices[] | select(.state == "ready") | .device_id'`,
    )
    .action(async (flags: ConnectionFlags & { labels?: string; json?: true }) => {
      const { api } = await connect(flags);
      const devices = await listDevices(api, flags.labels);
      if (flags.json) printJson({ success: true, devices, next_cursor: null });
      else
        printTable(
          { flexible: 'reason', rows: devices.map((one) => row(one, devices)) },
          flags.labels === undefined ? noDevices : 'No device fits.',
        );
    });
  const apps = command
    .command('apps')
    .description('list the apps that are installed on a phone, by package name')
    .argument('<device>', 'serial number, name or ID')
    .option('--all', 'also those that came with the phone')
    .option('--json', "print the API's reply")
    .action(async (text: string, flags: ConnectionFlags & { all?: true; json?: true }) => {
      const { api } = await connect(flags);
      const id = deviceIdOf(await listDevices(api), text);
      const reply = await api.call(deviceRoutes.apps, { params: { id } });
      if (flags.json) return printJson(reply);
      const shown = reply.apps.filter(({ is_system: isSystem }) => flags.all === true || !isSystem);
      for (const { package_name: name } of shown) console.log(printable(name));
    });
  addConnectionOptions(apps);
  addConnectionOptions(command);
  addDeviceShareCommands(command);
  addDeviceLabelCommands(command);
}

/** Names and labels only where some phone has them. */
const row = (device: Device, all: readonly Device[]): Record<string, string> => ({
  device: device.serial,
  ...(all.some(({ name }) => name !== '') ? { name: device.name || '-' } : {}),
  state: device.state,
  since: formatAge(device.since),
  model: `${device.brand} ${device.model}`.trim(),
  android: device.android_version,
  running: device.running.length === 0 ? '-' : String(device.running.length),
  ...(all.some(({ labels }) => labelsText(labels) !== '')
    ? { labels: labelsText(device.labels) || '-' }
    : {}),
  ...(all.some(({ warnings }) => warnings.length > 0)
    ? { warnings: device.warnings.map(({ code }) => code).join(', ') || '-' }
    : {}),
  reason: device.reason,
});
