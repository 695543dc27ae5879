import { deviceRoutes, hostRoutes, labelRoutes, type Labels } from '@phalanx/protocol';
import type { Command } from 'commander';

import { addConnectionOptions, connect, type ConnectionFlags } from '../../connection/connection.ts';
import { usageError } from '../../exit-codes.ts';
import { deviceIdOf, listDevices } from '../../launch/find-device.ts';
import { printable } from '../../output/printable.ts';
import { readAll } from '../../read-all.ts';

/** `phalanx devices label` and `rename` */
export function addDeviceLabelCommands(devices: Command): void {
  const label = devices
    .command('label')
    .description('set labels of a phone: key=value sets one, key- takes it away')
    .argument('<device>', 'serial number, name or ID')
    .argument('<change...>', 'key=value, or key-')
    .addHelpText('after', '\nExample:\n  phalanx devices label SIM0001 country=de rack=3 old-')
    .action(async (text: string, changes: string[], flags: ConnectionFlags) => {
      const { api } = await connect(flags);
      const id = deviceIdOf(await listDevices(api), text);
      const { device } = await api.call(deviceRoutes.get, { params: { id } });
      const body = { labels: withChanges(device.labels, changes) };
      const { labels } = await api.call(labelRoutes.putDeviceLabels, { params: { id }, body });
      console.log(printable(labelsText(labels) || 'No labels.'));
    });
  const rename = devices
    .command('rename')
    .description('give a phone a name of its own')
    .argument('<device>', 'serial number, name or ID')
    .argument('<name>', 'up to 100 characters; an empty one takes the name away')
    .action(async (text: string, name: string, flags: ConnectionFlags) => {
      const { api } = await connect(flags);
      const id = deviceIdOf(await listDevices(api), text);
      const { device } = await api.call(labelRoutes.renameDevice, { params: { id }, body: { name } });
      const { serial } = device;
      console.log(printable(device.name === '' ? `${serial} has no name.` : `${serial} is ${device.name}.`));
    });
  for (const command of [label, rename]) addConnectionOptions(command);
}

/** `phalanx hosts label` */
export function addHostLabelCommand(hosts: Command): void {
  const label = hosts
    .command('label')
    .description('replace the labels that all phones of a host have')
    .argument('<host>', 'name or ID')
    .argument('[label...]', 'key=value; without one, the host has none')
    .action(async (text: string, given: string[], flags: ConnectionFlags) => {
      const { api } = await connect(flags);
      const known = await readAll(
        (query) => api.call(hostRoutes.list, { query }),
        (page) => page.hosts,
      );
      const named = known.filter(({ name }) => name === text);
      const id = named.length === 1 ? (named[0]?.id ?? text) : text;
      const body = { labels: withChanges({}, given) };
      const { labels } = await api.call(labelRoutes.putHostLabels, { params: { id }, body });
      console.log(printable(labelsText(labels) || 'No labels.'));
    });
  addConnectionOptions(label);
}

export const labelsText = (labels: Labels): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');

function withChanges(before: Labels, changes: readonly string[]): Labels {
  const labels = new Map(Object.entries(before));
  for (const change of changes) {
    const [, key = '', value] = /^([^=]+)=(.*)$/s.exec(change) ?? [];
    if (value !== undefined) labels.set(key, value);
    else if (change.endsWith('-')) labels.delete(change.slice(0, -1));
    else throw usageError(`"${change}" is neither key=value nor key-.`);
  }
  return Object.fromEntries(labels);
}
