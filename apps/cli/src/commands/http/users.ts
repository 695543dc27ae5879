import type { ApiClient } from '@phalanx/client/api-client';
import { accessRoutes } from '@phalanx/protocol';
import type { Command } from '@commander-js/extra-typings';
import type { Command as PlainCommand } from 'commander';

import { confirm, printMessage, printable, quoted } from '../../output/terminal.ts';
import type { Connection } from '../../connection/connection.ts';
import { type OptionsOf, serverCommand } from '../../connection/server-command.ts';
import { usageError } from '../../exit-codes.ts';
import { getUserId, listUsers } from '../../launch/find-by-name.ts';
import { printJson, printTable } from '../../output/table.ts';

/** `phalanx user`, for administrators. */
export function addUserCommands(program: PlainCommand): void {
  const users = program
    .command('user')
    .description('create, list, rename, disable and delete users (administrators only)');
  serverCommand(users, 'create', {
    about: 'create a user; they need a token next',
    build: (command: Command) => command.argument('<name>'),
    help: 'Example: phalanx user create ada && phalanx token create "laptop" --user ada',
    async run({ api }, { json }, name) {
      const reply = await api.call(accessRoutes.createUser, { body: { name } });
      if (json) return printJson(reply);
      const { user } = reply;
      console.log(printable(`User "${user.name}" has the ID ${user.id}.`));
      console.log(
        printable(`Create a token for them: phalanx token create "first token" --user ${quoted(user.name)}`),
      );
    },
  });
  serverCommand(users, 'list', {
    about: 'list all users',
    async run({ api }, { json }) {
      const all = await listUsers(api);
      const rows = all.map(({ id, name, role, created_at: since, disabled_at: disabled }) => ({
        id,
        name,
        role: disabled === null ? role : `${role} (disabled)`,
        since: new Date(since).toISOString().slice(0, 10),
      }));
      if (json) printJson({ success: true, users: all, next_cursor: null });
      else printTable({ flexible: 'name', rows }, 'No users.');
    },
  });
  addChangeCommands(users);
}

/** `phalanx user rename|disable|enable|delete` */
function addChangeCommands(users: PlainCommand): void {
  serverCommand(users, 'rename', {
    about: 'rename a user',
    json: false,
    build: (command: Command) => command.argument('<user>', 'name or ID').argument('<name>', 'new name'),
    run: ({ api }, _, user, name) => update(api, user, { name }),
  });
  for (const [name, disabled, about] of [
    ['disable', true, 'disable a user, and keep their projects, devices and runs'],
    ['enable', false, 'enable a disabled user'],
  ] as const)
    serverCommand(users, name, {
      about,
      json: false,
      build: (command: Command) => command.argument('<user>', 'name or ID'),
      run: ({ api }, _, user) => update(api, user, { disabled }),
    });
  serverCommand(users, 'delete', {
    about: 'permanently delete a user with their tokens, devices and runs',
    json: false,
    build: deleteOptions,
    run: deleteUser,
  });
}

const deleteOptions = (command: Command) =>
  command
    .argument('<user>', 'name or ID')
    .option('--projects', 'also delete the projects that they own')
    .option('--yes', 'skip the confirmation prompt');

async function update(
  api: ApiClient,
  text: string,
  body: { name?: string; disabled?: boolean },
): Promise<void> {
  const params = { id: await getUserId(api, text) };
  const { user } = await api.call(accessRoutes.updateUser, { params, body });
  const state = user.disabled_at === null ? 'enabled' : 'disabled';
  console.log(printable(`User "${user.name}" is ${state}.`));
}

async function deleteUser(
  { api }: Connection,
  flags: OptionsOf<typeof deleteOptions>,
  text: string,
): Promise<void> {
  const id = await getUserId(api, text);
  const what = flags.projects ? ' and all their projects' : '';
  if (!flags.yes && !(await confirm(printable(`Permanently delete user "${text}"${what}?`))))
    throw usageError('Nothing was deleted: confirm with "y", or pass --yes.');
  const query = flags.projects ? { projects: 'delete' as const } : {};
  printMessage(await api.call(accessRoutes.deleteUser, { params: { id }, query }));
}
