import { accessRoutes } from '@phalanx/protocol';
import type { Command } from 'commander';

import { addConnectionOptions, connect, type ConnectionFlags } from '../connection/connection.ts';
import { listUsers } from '../launch/find-user.ts';
import { printable } from '../output/printable.ts';
import { quoted } from '../output/quoted.ts';
import { printJson, printTable } from '../output/table.ts';
import { addChangeCommands } from './change-users.ts';

type Flags = ConnectionFlags & { json?: true };

/** `phalanx user`, for administrators. */
export function addUserCommands(program: Command): void {
  const users = program
    .command('user')
    .description('create, list, rename, disable and delete users (administrators)');
  const create = users
    .command('create')
    .description('create a user; make a token for them next')
    .argument('<name>')
    .option('--json', "print the API's reply")
    .addHelpText('after', '\nExample: phalanx user create ada && phalanx token create "laptop" --user ada')
    .action(async (name: string, flags: Flags) => {
      const reply = await (await connect(flags)).api.call(accessRoutes.createUser, { body: { name } });
      if (flags.json) return printJson(reply);
      const { user } = reply;
      console.log(printable(`User "${user.name}" has the ID ${user.id}.`));
      console.log(
        printable(`A token for them: phalanx token create "first token" --user ${quoted(user.name)}`),
      );
    });
  const list = users
    .command('list')
    .description('list the users')
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
