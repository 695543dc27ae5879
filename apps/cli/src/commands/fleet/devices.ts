import type { ApiClient } from '@phalanx/client/api-client';
import { readAll } from '@phalanx/client/read-all';
import {
  type Device,
  deviceRoutes,
  hostRoutes,
  labelRoutes,
  type Labels,
  deviceMemberRoutes,
  shareRoles,
  type Host,
  type ShareRole,
} from '@phalanx/protocol';
import { type Command, Option } from 'commander';

import { addConnectionOptions, connect, type ConnectionFlags } from '../../connection/connection.ts';
import { deviceIdOf, listDevices, getUserId } from '../../launch/find-by-name.ts';
import { formatAge } from '../../output/duration.ts';
import { confirm, printable, printMessage } from '../../output/terminal.ts';
import { printJson, printTable } from '../../output/table.ts';
import { usageError } from '../../exit-codes.ts';

const noDevices =
  'No devices yet. Connect a phone to a host (see "phalanx host --help"), or try a simulated one with "phalanx demo".';

/** `phalanx devices`: lists the phones and their states. */
export function addDevicesCommand(program: Command): void {
  const command = program
    .command('devices')
    .description('list your phones, with the state of each, since when, and the reason')
    .option('--labels <selector>', 'only phones that match, such as "country=de,model~Pixel" or "pool=NAME"')
    .option('--json', "print the API's reply")
    .addHelpText(
      'after',
      `
Every command that takes a device accepts its serial number, its name or its device ID (see --json).

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
          flags.labels === undefined ? noDevices : 'No device matches.',
        );
    });
  const apps = command
    .command('apps')
    .description('list the package names of the apps installed on a phone')
    .argument('<device>', 'serial number, name or ID')
    .option('--all', 'include apps that came with the phone')
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

/** Table row of a phone. Names, labels, warnings and waiting shares have a column only if some phone has one. */
const row = (device: Device, all: readonly Device[]): Record<string, string> => ({
  device: device.serial,
  ...(all.some(({ name }) => name !== '') ? { name: device.name || '-' } : {}),
  state: device.state,
  since: formatAge(device.since),
  ...(all.some(({ accepted }) => !accepted) ? { share: device.accepted ? '-' : 'waiting' } : {}),
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

/** `phalanx devices label`, `rename` and `remove` */
function addDeviceLabelCommands(devices: Command): void {
  const label = devices
    .command('label')
    .description('change the labels of a phone: key=value sets a label, key- removes it')
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
    .description('name a phone')
    .argument('<device>', 'serial number, name or ID')
    .argument('<name>', 'up to 100 characters; "" removes the name')
    .action(async (text: string, name: string, flags: ConnectionFlags) => {
      const { api } = await connect(flags);
      const id = deviceIdOf(await listDevices(api), text);
      const { device } = await api.call(labelRoutes.renameDevice, { params: { id }, body: { name } });
      const { serial } = device;
      console.log(printable(device.name === '' ? `${serial} has no name.` : `${serial} is ${device.name}.`));
    });
  const remove = devices
    .command('remove')
    .description('remove a disconnected phone with its name, labels and shares; its runs stay')
    .argument('<device>', 'serial number, name or ID')
    .option('--yes', 'skip the confirmation prompt')
    .action(async (text: string, flags: ConnectionFlags & { yes?: true }) => {
      const { api } = await connect(flags);
      const id = deviceIdOf(await listDevices(api), text);
      if (!flags.yes && !(await confirm(printable(`Remove the phone "${text}"?`))))
        throw usageError('Nothing was removed: confirm with "y", or pass --yes.');
      printMessage(await api.call(deviceRoutes.delete, { params: { id } }));
    });
  for (const command of [label, rename, remove]) addConnectionOptions(command);
}

/** `phalanx hosts label` */
export function addHostLabelCommand(hosts: Command): void {
  const label = hosts
    .command('label')
    .description('replace the labels of a host, which all of its phones have')
    .argument('<host>', 'name or ID')
    .argument('[label...]', 'key=value; without any, the command removes all labels')
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

const labelsText = (labels: Labels): string =>
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

type MemberRoutes = Pick<typeof deviceMemberRoutes | typeof hostRoutes, 'putMember' | 'deleteMember'>;

/** Differences between the share commands of devices and hosts. */
interface Shared {
  noun: 'device' | 'host';
  routes: MemberRoutes;
  /** Finds the ID by a name that users know, or by the ID itself. */
  findId: (api: ApiClient, text: string) => Promise<string>;
}

export const listHosts = (api: ApiClient): Promise<Host[]> =>
  readAll(
    (query) => api.call(hostRoutes.list, { query }),
    (page) => page.hosts,
  );

const userArgument = ['<user>', 'user ID; administrators can also use the name'] as const;

/** `phalanx devices share` and `unshare` */
function addDeviceShareCommands(devices: Command): void {
  addShareCommands(devices, {
    noun: 'device',
    routes: deviceMemberRoutes,
    findId: async (api, text) => deviceIdOf(await listDevices(api), text),
  });
}

/** `phalanx hosts`, with `label`, `share` and `unshare` for all phones of a host. */
export function addHostsCommand(program: Command): void {
  const hosts = program
    .command('hosts')
    .description('list your hosts and those shared with you')
    .option('--json', "print the API's reply")
    .action(async (flags: ConnectionFlags & { json?: true }) => {
      const reply = await (await connect(flags)).api.call(hostRoutes.list);
      if (flags.json) printJson(reply);
      else
        printTable(
          { flexible: 'problem', rows: reply.hosts.map(hostRow) },
          'No hosts yet: "phalanx host --help".',
        );
    });
  addConnectionOptions(hosts);
  addHostLabelCommand(hosts);
  addShareCommands(hosts, {
    noun: 'host',
    routes: hostRoutes,
    findId: async (api, text) => {
      const named = (await listHosts(api)).filter(({ name }) => name === text);
      return named.length === 1 ? (named[0]?.id ?? text) : text;
    },
  });
}

function addShareCommands(parent: Command, { noun, routes, findId }: Shared): void {
  const target = [`<${noun}>`, noun === 'device' ? 'serial number or ID' : 'name or ID'] as const;
  const share = parent
    .command('share')
    .description(
      `share ${noun === 'device' ? 'a phone' : 'all phones of a host'} with a user, or change their role`,
    )
    .argument(...target)
    .argument(...userArgument)
    .addOption(new Option('--role <role>', "the user's role").choices(shareRoles).makeOptionMandatory())
    .action(async (text: string, user: string, flags: ConnectionFlags & { role: ShareRole }) => {
      const { api } = await connect(flags);
      const params = { id: await findId(api, text), user_id: await getUserId(api, user) };
      const { member } = await api.call(routes.putMember, { params, body: { role: flags.role } });
      console.log(printable(`${member.name} now has the role ${member.role}.`));
    });
  const unshare = parent
    .command('unshare')
    .description(`stop sharing ${noun === 'device' ? 'a phone' : 'the phones of a host'} with a user`)
    .argument(...target)
    .argument(...userArgument)
    .action(async (text: string, user: string, flags: ConnectionFlags) => {
      const { api } = await connect(flags);
      const params = { id: await findId(api, text), user_id: await getUserId(api, user) };
      printMessage(await api.call(routes.deleteMember, { params }));
    });
  for (const command of [share, unshare]) addConnectionOptions(command);
}

const hostRow = (host: Host): Record<string, string> => ({
  name: host.name,
  id: host.id,
  state: host.connected ? 'connected' : 'offline',
  problem: host.problem ?? '',
  since: host.since === null ? '-' : formatAge(host.since),
  phones: `${host.devices.ready} of ${host.devices.total} ready`,
  role: host.accepted ? host.role : `${host.role}, waiting`,
  owner: host.owner.name,
});
