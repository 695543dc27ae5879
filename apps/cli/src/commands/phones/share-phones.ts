import { deviceMemberRoutes, hostRoutes, shareRoles, type Host, type ShareRole } from '@phalanx/protocol';
import { type Command, Option } from 'commander';

import type { ApiClient } from '../../api-client.ts';
import { addConnectionOptions, connect, type ConnectionFlags } from '../../connection/connection.ts';
import { deviceIdOf, listDevices } from '../../launch/find-device.ts';
import { getUserId } from '../../launch/find-user.ts';
import { formatAge } from '../../output/duration.ts';
import { printMessage } from '../../output/notice.ts';
import { printable } from '../../output/printable.ts';
import { printJson, printTable } from '../../output/table.ts';
import { readAll } from '../../read-all.ts';
import { addHostLabelCommand } from './label-phones.ts';

type MemberRoutes = Pick<typeof deviceMemberRoutes | typeof hostRoutes, 'putMember' | 'deleteMember'>;

/** What is shared by these commands. */
interface Shared {
  noun: 'device' | 'host';
  routes: MemberRoutes;
  /** A name that people know, or the ID. */
  findId: (api: ApiClient, text: string) => Promise<string>;
}

export const listHosts = (api: ApiClient): Promise<Host[]> =>
  readAll(
    (query) => api.call(hostRoutes.list, { query }),
    (page) => page.hosts,
  );

const userArgument = ['<user>', 'ID; administrators may give the name'] as const;

/** `phalanx devices share` and `unshare` */
export function addDeviceShareCommands(devices: Command): void {
  addShareCommands(devices, {
    noun: 'device',
    routes: deviceMemberRoutes,
    findId: async (api, text) => deviceIdOf(await listDevices(api), text),
  });
}

/** `phalanx hosts`, with `share` and `unshare` for all phones of a host. */
export function addHostsCommand(program: Command): void {
  const hosts = program
    .command('hosts')
    .description('list your hosts and those that are shared with you')
    .option('--json', "print the API's reply")
    .action(async (flags: ConnectionFlags & { json?: true }) => {
      const reply = await (await connect(flags)).api.call(hostRoutes.list);
      if (flags.json) printJson(reply);
      else
        printTable({ flexible: 'name', rows: reply.hosts.map(row) }, 'No hosts yet: "phalanx host --help".');
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
    .addOption(new Option('--role <role>', 'what they may do').choices(shareRoles).makeOptionMandatory())
    .action(async (text: string, user: string, flags: ConnectionFlags & { role: ShareRole }) => {
      const { api } = await connect(flags);
      const params = { id: await findId(api, text), user_id: await getUserId(api, user) };
      const { member } = await api.call(routes.putMember, { params, body: { role: flags.role } });
      console.log(printable(`${member.name} may ${member.role} now.`));
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

const row = (host: Host): Record<string, string> => ({
  name: host.name,
  id: host.id,
  state: host.connected ? 'connected' : 'offline',
  since: host.since === null ? '-' : formatAge(host.since),
  phones: `${host.devices.ready} of ${host.devices.total} ready`,
  role: host.role,
  owner: host.owner.name,
});
