import { accessRoutes } from '@phalanx/protocol';
import type { Command } from 'commander';

import { addConnectionOptions, connect, type ConnectionFlags } from '../connection/connection.ts';
import { confirm } from '../connection/confirm.ts';
import { usageError } from '../exit-codes.ts';
import { getUserId } from '../launch/find-user.ts';
import { printMessage } from '../output/print-message.ts';
import { printable } from '../output/printable.ts';

/** `phalanx user rename|disable|enable|delete` */
export function addChangeCommands(users: Command): void {
  const rename = users
    .command('rename')
    .description('give a user another name')
    .argument('<user>', 'name or ID')
    .argument('<name>', 'the new one')
    .action((user: string, name: string, flags: ConnectionFlags) => update(user, flags, { name }));
  const disable = users
    .command('disable')
    .description('lock a user out, and keep all that is theirs')
    .argument('<user>', 'name or ID')
    .action((user: string, flags: ConnectionFlags) => update(user, flags, { disabled: true }));
  const enable = users
    .command('enable')
    .description('let a disabled user in again')
    .argument('<user>', 'name or ID')
    .action((user: string, flags: ConnectionFlags) => update(user, flags, { disabled: false }));
  const remove = users
    .command('delete')
    .description('delete a user for good, with their tokens, devices and runs')
    .argument('<user>', 'name or ID')
    .option('--projects', 'delete the projects that they own too')
    .option('--yes', 'without asking')
    .action(deleteUser);
  for (const command of [rename, disable, enable, remove]) addConnectionOptions(command);
}

async function update(
  text: string,
  flags: ConnectionFlags,
  body: { name?: string; disabled?: boolean },
): Promise<void> {
  const { api } = await connect(flags);
  const params = { id: await getUserId(api, text) };
  const { user } = await api.call(accessRoutes.updateUser, { params, body });
  const state = user.disabled_at === null ? 'enabled' : 'disabled';
  console.log(printable(`User "${user.name}" is ${state}.`));
}

async function deleteUser(
  text: string,
  flags: ConnectionFlags & { projects?: true; yes?: true },
): Promise<void> {
  const { api } = await connect(flags);
  const id = await getUserId(api, text);
  const what = flags.projects ? ' and all their projects' : '';
  if (!flags.yes && !(await confirm(printable(`Delete user "${text}"${what} for good?`))))
    throw usageError('Nothing was deleted: say yes, or give --yes.');
  const query = flags.projects ? { projects: 'delete' as const } : {};
  printMessage(await api.call(accessRoutes.deleteUser, { params: { id }, query }));
}
