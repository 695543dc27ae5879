import { readAll } from '@phalanx/client/read-all';
import { type Secret, type SecretRecipient, secretRecipientRoutes, secretRoutes } from '@phalanx/protocol';
import type { Command } from '@commander-js/extra-typings';
import type { Command as PlainCommand } from 'commander';

import type { Connection } from '../../connection/connection.ts';
import { serverCommand } from '../../connection/server-command.ts';
import { getUserId } from '../../launch/find-by-name.ts';
import { printable, readSecret } from '../../output/terminal.ts';
import { formatAge } from '../../output/duration.ts';
import { printJson, printTable } from '../../output/table.ts';
import { chooseProject, addProjectOption } from '../../project/project-folder.ts';

const userOptions = (command: Command) =>
  addProjectOption(command.argument('<user>', 'user ID; administrators can also use the name'));

/** `phalanx secret set|list|delete|allow|deny|allowed`: values that a project's automations read by name. */
export function addSecretCommands(program: PlainCommand): void {
  const secret = program
    .command('secret')
    .description("manage a project's secrets: values, such as passwords, that only its automations can read");
  addValueCommands(secret);
  addRecipientCommands(secret);
}

function addValueCommands(secret: PlainCommand): void {
  serverCommand(secret, 'set', {
    about: 'store a secret, or replace its value',
    build: (command: Command) => addProjectOption(command.argument('<name>', 'letters, digits and _')),
    help: `The command prompts for the value, or reads it from standard input. The value is not an argument, because other programs
can see arguments.
Automations read it with: await agent.secrets.get('NAME')

Examples:
  phalanx secret set SHOP_PASSWORD
  phalanx secret set SHOP_PASSWORD < password.txt`,
    async run(connection, { project, json }, name) {
      const id = await chooseProject(connection, project);
      const value = await readSecret(`Value of ${name}: `);
      const reply = await connection.api.call(secretRoutes.put, { params: { id, name }, body: { value } });
      if (json) printJson(reply);
      else
        console.log(
          `Secret ${name} was stored (version ${reply.secret.version}). Runs that start from now on use it.`,
        );
    },
  });
  serverCommand(secret, 'list', {
    about: 'list the names of the secrets; their values cannot be read back',
    build: (command: Command) => addProjectOption(command),
    async run(connection, { project, json }) {
      const params = { id: await chooseProject(connection, project) };
      const reply = await connection.api.call(secretRoutes.list, { params });
      if (json) printJson(reply);
      else
        printTable(
          { flexible: 'name', rows: reply.secrets.map(row) },
          'The project has no secrets: "phalanx secret set NAME" stores one.',
        );
    },
  });
  serverCommand(secret, 'delete', {
    about: 'delete a secret; runs that have started keep it',
    build: (command: Command) => addProjectOption(command.argument('<name>')),
    async run(connection, { project, json }, name) {
      const id = await chooseProject(connection, project);
      const reply = await connection.api.call(secretRoutes.delete, { params: { id, name } });
      if (json) printJson(reply);
      else console.log(reply.message);
    },
  });
}

const row = ({ name, version, updated_at }: Secret): Record<string, string> => ({
  name,
  version: String(version),
  changed: `${formatAge(updated_at)} ago`,
});

function addRecipientCommands(secret: PlainCommand): void {
  serverCommand(secret, 'allow', {
    about: "let a user's hosts receive the secrets, like those of the owner and the editors",
    build: userOptions,
    async run(connection, { project, json }, user) {
      const params = await recipientOf(connection, user, project);
      const reply = await connection.api.call(secretRecipientRoutes.put, { params });
      if (json) printJson(reply);
      else console.log(printable(`Hosts of ${reply.recipient.name} now receive the project's secrets.`));
    },
  });
  serverCommand(secret, 'deny', {
    about: "stop a user's hosts from receiving the secrets; runs that have started keep them",
    build: userOptions,
    async run(connection, { project, json }, user) {
      const params = await recipientOf(connection, user, project);
      const reply = await connection.api.call(secretRecipientRoutes.delete, { params });
      if (json) printJson(reply);
      else console.log(printable(reply.message));
    },
  });
  serverCommand(secret, 'allowed', {
    about: 'list the users, besides the owner and the editors, whose hosts receive the secrets',
    build: (command: Command) => addProjectOption(command),
    async run(connection, { project, json }) {
      const { api } = connection;
      const params = { id: await chooseProject(connection, project) };
      const recipients = await readAll(
        (query) => api.call(secretRecipientRoutes.list, { params, query }),
        (page) => page.recipients,
      );
      if (json) return printJson({ success: true, recipients, next_cursor: null });
      printTable(
        { flexible: 'name', rows: recipients.map(recipientRow) },
        'Only hosts of the owner and the editors receive the secrets: "phalanx secret allow USER" adds others.',
      );
    },
  });
}

async function recipientOf(
  connection: Connection,
  user: string,
  project: string | undefined,
): Promise<{ id: string; user_id: string }> {
  return {
    id: await chooseProject(connection, project),
    user_id: await getUserId(connection.api, user),
  };
}

const recipientRow = ({ name, user_id, added_at }: SecretRecipient): Record<string, string> => ({
  name,
  id: user_id,
  added: `${formatAge(added_at)} ago`,
});
