import { type Command, Option } from '@commander-js/extra-typings';
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
} from '@phalanx/protocol';
import type { Command as PlainCommand } from 'commander';

import { serverCommand } from '../../connection/server-command.ts';
import { deviceIdOf, listDevices, getUserId } from '../../launch/find-by-name.ts';
import { formatAge } from '../../output/duration.ts';
import { confirm, printable, printMessage } from '../../output/terminal.ts';
import { printJson, printTable } from '../../output/table.ts';
import { usageError } from '../../exit-codes.ts';

const noDevices =
  'No devices yet. Connect a phone to a host (see "phalanx host --help"), or try a simulated one with "phalanx demo".';

/** `phalanx devices`: lists the phones and their states. */
export function addDevicesCommand(program: PlainCommand): void {
  const devices = serverCommand(program, 'devices', {
    about: 'list your phones, with the state of each, since when, and the reason',
    build: (command: Command) =>
      command.option(
        '--labels <selector>',
        'only phones that match, such as "country=de,model~Pixel" or "pool=NAME"',
      ),
    help: `Every command that takes a device accepts its serial number, its name or its device ID (see --json).

Examples:
  phalanx devices
  phalanx devices --json | jq -r '.devices[] | select(.state == "ready") | .device_id'`,
    async run({ api }, { labels, json }) {
      const all = await listDevices(api, labels);
      if (json) printJson({ success: true, devices: all, next_cursor: null });
      else
        printTable(
          { flexible: 'reason', rows: all.map((one) => row(one, all)) },
          labels === undefined ? noDevices : 'No device matches.',
        );
    },
  });
  serverCommand(devices, 'apps', {
    about: 'list the package names of the apps installed on a phone',
    build: (command: Command) =>
      command
        .argument('<device>', 'serial number, name or ID')
        .option('--all', 'include apps that came with the phone'),
    async run({ api }, { all, json }, text) {
      const id = deviceIdOf(await listDevices(api), text);
      const reply = await api.call(deviceRoutes.apps, { params: { id } });
      if (json) return printJson(reply);
      const shown = reply.apps.filter(({ is_system: isSystem }) => all === true || !isSystem);
      for (const { package_name: name } of shown) console.log(printable(name));
    },
  });
  addDeviceShareCommands(devices);
  addDeviceLabelCommands(devices);
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
function addDeviceLabelCommands(devices: PlainCommand): void {
  serverCommand(devices, 'label', {
    about: 'change the labels of a phone: key=value sets a label, key- removes it',
    json: false,
    build: (command: Command) =>
      command.argument('<device>', 'serial number, name or ID').argument('<change...>', 'key=value, or key-'),
    help: 'Example:\n  phalanx devices label SIM0001 country=de rack=3 old-',
    async run({ api }, _, text, changes) {
      const id = deviceIdOf(await listDevices(api), text);
      const { device } = await api.call(deviceRoutes.get, { params: { id } });
      const body = { labels: withChanges(device.labels, changes) };
      const { labels } = await api.call(labelRoutes.putDeviceLabels, { params: { id }, body });
      console.log(printable(labelsText(labels) || 'No labels.'));
    },
  });
  serverCommand(devices, 'rename', {
    about: 'name a phone',
    json: false,
    build: (command: Command) =>
      command
        .argument('<device>', 'serial number, name or ID')
        .argument('<name>', 'up to 100 characters; "" removes the name'),
    async run({ api }, _, text, name) {
      const id = deviceIdOf(await listDevices(api), text);
      const { device } = await api.call(labelRoutes.renameDevice, { params: { id }, body: { name } });
      const { serial } = device;
      console.log(printable(device.name === '' ? `${serial} has no name.` : `${serial} is ${device.name}.`));
    },
  });
  serverCommand(devices, 'remove', {
    about: 'remove a disconnected phone with its name, labels and shares; its runs stay',
    json: false,
    build: (command: Command) =>
      command
        .argument('<device>', 'serial number, name or ID')
        .option('--yes', 'skip the confirmation prompt'),
    async run({ api }, { yes }, text) {
      const id = deviceIdOf(await listDevices(api), text);
      if (!yes && !(await confirm(printable(`Remove the phone "${text}"?`))))
        throw usageError('Nothing was removed: confirm with "y", or pass --yes.');
      printMessage(await api.call(deviceRoutes.delete, { params: { id } }));
    },
  });
}

/** `phalanx hosts label` */
function addHostLabelCommand(hosts: PlainCommand): void {
  serverCommand(hosts, 'label', {
    about: 'replace the labels of a host, which all of its phones have',
    json: false,
    build: (command: Command) =>
      command
        .argument('<host>', 'name or ID')
        .argument('[label...]', 'key=value; without any, the command removes all labels'),
    async run({ api }, _, text, given) {
      const id = await hostIdOf(api, text);
      const body = { labels: withChanges({}, given) };
      const { labels } = await api.call(labelRoutes.putHostLabels, { params: { id }, body });
      console.log(printable(labelsText(labels) || 'No labels.'));
    },
  });
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

/** Returns the ID of the host with this name, if there is exactly one. Otherwise the text is the ID. */
async function hostIdOf(api: ApiClient, text: string): Promise<string> {
  const named = (await listHosts(api)).filter(({ name }) => name === text);
  return named.length === 1 ? (named[0]?.id ?? text) : text;
}

const userArgument = ['<user>', 'user ID; administrators can also use the name'] as const;

/** `phalanx devices share` and `unshare` */
function addDeviceShareCommands(devices: PlainCommand): void {
  addShareCommands(devices, {
    noun: 'device',
    routes: deviceMemberRoutes,
    findId: async (api, text) => deviceIdOf(await listDevices(api), text),
  });
}

/** `phalanx hosts`, with `label`, `share` and `unshare` for all phones of a host. */
export function addHostsCommand(program: PlainCommand): void {
  const hosts = serverCommand(program, 'hosts', {
    about: 'list your hosts and those shared with you',
    async run({ api }, { json }) {
      const reply = await api.call(hostRoutes.list);
      if (json) printJson(reply);
      else
        printTable(
          { flexible: 'problem', rows: reply.hosts.map(hostRow) },
          'No hosts yet: "phalanx host --help".',
        );
    },
  });
  addHostLabelCommand(hosts);
  addShareCommands(hosts, { noun: 'host', routes: hostRoutes, findId: hostIdOf });
}

function addShareCommands(parent: PlainCommand, { noun, routes, findId }: Shared): void {
  const target = [`<${noun}>`, noun === 'device' ? 'serial number or ID' : 'name or ID'] as const;
  serverCommand(parent, 'share', {
    about: `share ${noun === 'device' ? 'a phone' : 'all phones of a host'} with a user, or change their role`,
    json: false,
    build: (command: Command) =>
      command
        .argument(...target)
        .argument(...userArgument)
        .addOption(new Option('--role <role>', "the user's role").choices(shareRoles).makeOptionMandatory()),
    async run({ api }, { role }, text, user) {
      const params = { id: await findId(api, text), user_id: await getUserId(api, user) };
      const { member } = await api.call(routes.putMember, { params, body: { role } });
      console.log(printable(`${member.name} now has the role ${member.role}.`));
    },
  });
  serverCommand(parent, 'unshare', {
    about: `stop sharing ${noun === 'device' ? 'a phone' : 'the phones of a host'} with a user`,
    json: false,
    build: (command: Command) => command.argument(...target).argument(...userArgument),
    async run({ api }, _, text, user) {
      const params = { id: await findId(api, text), user_id: await getUserId(api, user) };
      printMessage(await api.call(routes.deleteMember, { params }));
    },
  });
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
