import { readAll } from '@phalanx/client/read-all';
import { type Secret, type SecretRecipient, secretRecipientRoutes, secretRoutes } from '@phalanx/protocol';
import type { Command } from 'commander';

import {
  addConnectionOptions,
  connect,
  type Connection,
  type ConnectionFlags,
} from '../../connection/connection.ts';
import { getUserId } from '../../launch/find-by-name.ts';
import { printable, readSecret } from '../../output/terminal.ts';
import { formatAge } from '../../output/duration.ts';
import { printJson, printTable } from '../../output/table.ts';
import { chooseProject, addProjectOption } from '../../project/project-folder.ts';

interface Flags extends ConnectionFlags {
  project?: string;
  json?: true;
}

const userArgument = ['<user>', 'user ID; administrators can also use the name'] as const;

/** `phalanx secret set|list|delete|allow|deny|allowed`: values that a project's automations read by name. */
export function addSecretCommands(program: Command): void {
  const secret = program
    .command('secret')
    .description("manage a project's secrets: values, such as passwords, that only its automations can read");
  const set = secret
    .command('set')
    .description('store a secret, or replace its value')
    .argument('<name>', 'letters, digits and _')
    .addHelpText(
      'after',
      `
The command prompts for the value, or reads it from standard input. The value is not an argument, because other programs
can see arguments.
Automations read it with: await agent.secrets.get('NAME')

Examples:
  phalanx secret set SHOP_PASSWORD
  phalanx secret set SHOP_PASSWORD < password.txt`,
    )
    .action(setSecret);
  const list = secret
    .command('list')
    .description('list the names of the secrets; their values cannot be read back')
    .action(listSecrets);
  const remove = secret
    .command('delete')
    .description('delete a secret; runs that have started keep it')
    .argument('<name>')
    .action(deleteSecret);
  const allow = secret
    .command('allow')
    .description("let a user's hosts receive the secrets, like those of the owner and the editors")
    .argument(...userArgument)
    .action(allowUser);
  const deny = secret
    .command('deny')
    .description("stop a user's hosts from receiving the secrets; runs that have started keep them")
    .argument(...userArgument)
    .action(denyUser);
  const allowed = secret
    .command('allowed')
    .description('list the users, besides the owner and the editors, whose hosts receive the secrets')
    .action(listAllowed);
  for (const command of [set, list, remove, allow, deny, allowed])
    addConnectionOptions(addProjectOption(command)).option('--json', "print the API's reply");
}

async function setSecret(name: string, flags: Flags): Promise<void> {
  const connection = await connect(flags);
  const id = await chooseProject(connection, flags.project);
  const value = await readSecret(`Value of ${name}: `);
  const reply = await connection.api.call(secretRoutes.put, { params: { id, name }, body: { value } });
  if (flags.json) printJson(reply);
  else
    console.log(
      `Secret ${name} was stored (version ${reply.secret.version}). Runs that start from now on use it.`,
    );
}

async function listSecrets(flags: Flags): Promise<void> {
  const connection = await connect(flags);
  const params = { id: await chooseProject(connection, flags.project) };
  const reply = await connection.api.call(secretRoutes.list, { params });
  if (flags.json) printJson(reply);
  else
    printTable(
      { flexible: 'name', rows: reply.secrets.map(row) },
      'The project has no secrets: "phalanx secret set NAME" stores one.',
    );
}

const row = ({ name, version, updated_at }: Secret): Record<string, string> => ({
  name,
  version: String(version),
  changed: `${formatAge(updated_at)} ago`,
});

async function deleteSecret(name: string, flags: Flags): Promise<void> {
  const connection = await connect(flags);
  const id = await chooseProject(connection, flags.project);
  const reply = await connection.api.call(secretRoutes.delete, { params: { id, name } });
  if (flags.json) printJson(reply);
  else console.log(reply.message);
}

async function allowUser(user: string, flags: Flags): Promise<void> {
  const connection = await connect(flags);
  const params = await recipientOf(connection, user, flags);
  const reply = await connection.api.call(secretRecipientRoutes.put, { params });
  if (flags.json) printJson(reply);
  else console.log(printable(`Hosts of ${reply.recipient.name} now receive the project's secrets.`));
}

async function denyUser(user: string, flags: Flags): Promise<void> {
  const connection = await connect(flags);
  const params = await recipientOf(connection, user, flags);
  const reply = await connection.api.call(secretRecipientRoutes.delete, { params });
  if (flags.json) printJson(reply);
  else console.log(printable(reply.message));
}

async function recipientOf(
  connection: Connection,
  user: string,
  { project }: Flags,
): Promise<{ id: string; user_id: string }> {
  return {
    id: await chooseProject(connection, project),
    user_id: await getUserId(connection.api, user),
  };
}

async function listAllowed(flags: Flags): Promise<void> {
  const connection = await connect(flags);
  const { api } = connection;
  const params = { id: await chooseProject(connection, flags.project) };
  const recipients = await readAll(
    (query) => api.call(secretRecipientRoutes.list, { params, query }),
    (page) => page.recipients,
  );
  if (flags.json) return printJson({ success: true, recipients, next_cursor: null });
  printTable(
    { flexible: 'name', rows: recipients.map(recipientRow) },
    'Only hosts of the owner and the editors receive the secrets: "phalanx secret allow USER" adds others.',
  );
}

const recipientRow = ({ name, user_id, added_at }: SecretRecipient): Record<string, string> => ({
  name,
  id: user_id,
  added: `${formatAge(added_at)} ago`,
});
