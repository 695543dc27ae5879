import { accessRoutes } from '@phalanx/protocol';
import type { Command } from 'commander';

import { confirm, printMessage, printable, quoted } from '../../output/terminal.ts';
import { addConnectionOptions, connect, type ConnectionFlags } from '../../connection/connection.ts';
import { usageError } from '../../exit-codes.ts';
import { getUserId, listUsers } from '../../launch/find-by-name.ts';
import { printJson, printTable } from '../../output/table.ts';

type Flags = ConnectionFlags & { json?: true };

/** `phalanx user`, for administrators. */
export function addUserCommands(program: Command): void {
  const users = program
    .command('user')
    .description('create, list, rename, disable and delete users (administrators only)');
  const create = users
    .command('create')
    .description('create a user; they need a token next')
    .argument('<name>')
    .option('--json', "print the API's reply")
    .addHelpText('after', '\nExample: phalanx user create ada && phalanx token create "laptop" --user ada')
    .action(async (name: string, flags: Flags) => {
      const reply = await (await connect(flags)).api.call(accessRoutes.createUser, { body: { name } });
      if (flags.json) return printJson(reply);
      const { user } = reply;
      console.log(printable(`User "${user.name}" has the ID ${user.id}.`));
      console.log(
        printable(`Create a token for them: phalanx token create "first token" --user ${quoted(user.name)}`),
      );
    });
  const list = users
    .command('list')
    .description('list all users')
    .option('--json', "print the API's reply")
    .action(async (flags: Flags) => {
      const all = await listUsers((await connect(flags)).api);
      const rows = all.map(({ id, name, role, created_at: since, disabled_at: disabled }) => ({
        id,
        name,
        role: disabled === null ? role : `${role} (disabled)`,
        since: new Date(since).toISOString().slice(0, 10),
      }));
      if (flags.json) printJson({ success: true, users: all, next_cursor: null });
      else printTable({ flexible: 'name', rows }, 'No users.');
    });
  for (const command of [create, list]) addConnectionOptions(command);
  addChangeCommands(users);
}

/** `phalanx user rename|disable|enable|delete` */
function addChangeCommands(users: Command): void {
  const rename = users
    .command('rename')
    .description('rename a user')
    .argument('<user>', 'name or ID')
    .argument('<name>', 'new name')
    .action((user: string, name: string, flags: ConnectionFlags) => update(user, flags, { name }));
  const disable = users
    .command('disable')
    .description('disable a user, and keep their projects, devices and runs')
    .argument('<user>', 'name or ID')
    .action((user: string, flags: ConnectionFlags) => update(user, flags, { disabled: true }));
  const enable = users
    .command('enable')
    .description('enable a disabled user')
    .argument('<user>', 'name or ID')
    .action((user: string, flags: ConnectionFlags) => update(user, flags, { disabled: false }));
  const remove = users
    .command('delete')
    .description('permanently delete a user with their tokens, devices and runs')
    .argument('<user>', 'name or ID')
    .option('--projects', 'also delete the projects that they own')
    .option('--yes', 'skip the confirmation prompt')
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
  if (!flags.yes && !(await confirm(printable(`Permanently delete user "${text}"${what}?`))))
    throw usageError('Nothing was deleted: confirm with "y", or pass --yes.');
  const query = flags.projects ? { projects: 'delete' as const } : {};
  printMessage(await api.call(accessRoutes.deleteUser, { params: { id }, query }));
}
