import { type Secret, type SecretRecipient, secretRecipientRoutes, secretRoutes } from '@phalanx/protocol';
import type { Command } from 'commander';

import { readAll } from '../../api-client.ts';
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

const userArgument = ['<user>', 'ID; administrators may give the name'] as const;

/** `phalanx secret set`, `list`, `delete`, `allow`, `deny`, `allowed`: values that the automations of a project read by name */
export function addSecretCommands(program: Command): void {
  const secret = program
    .command('secret')
    .description('store values, such as passwords, that only the automations of a project read');
  const set = secret
    .command('set')
    .description('store a secret, or give it a new value')
    .argument('<name>', 'letters, digits and _')
    .addHelpText(
      'after',
      `
The value is asked for, or read from standard input; it is no argument, because other programs see those.
Automations read it with: await agent.secrets.get('NAME')

Examples:
  phalanx secret set SHOP_PASSWORD
  phalanx secret set SHOP_PASSWORD < password.txt`,
    )
    .action(setSecret);
  const list = secret
    .command('list')
    .description('list the names of the secrets; nobody can read their values')
    .action(listSecrets);
  const remove = secret
    .command('delete')
    .description('delete a secret; runs that have begun keep it')
    .argument('<name>')
    .action(deleteSecret);
  const allow = secret
    .command('allow')
    .description('let the hosts of a user get the secrets, beside those of owner and editors')
    .argument(...userArgument)
    .action(allowUser);
  const deny = secret
    .command('deny')
    .description('keep the secrets from the hosts of a user; runs that have begun keep them')
    .argument(...userArgument)
    .action(denyUser);
  const allowed = secret
    .command('allowed')
    .description('list the users whose hosts get the secrets, beside owner and editors')
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
    console.log(`Secret ${name} was stored (version ${reply.secret.version}). Runs that begin now get it.`);
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
  else console.log(printable(`Hosts of ${reply.recipient.name} get the secrets of the project now.`));
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
    'Only hosts of the owner and the editors get the secrets: "phalanx secret allow USER" adds others.',
  );
}

const recipientRow = ({ name, user_id, added_at }: SecretRecipient): Record<string, string> => ({
  name,
  id: user_id,
  added: `${formatAge(added_at)} ago`,
});
