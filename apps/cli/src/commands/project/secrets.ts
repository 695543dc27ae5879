import { type Secret, secretRoutes } from '@phalanx/protocol';
import type { Command } from 'commander';

import { addConnectionOptions, connect, type ConnectionFlags } from '../../connection/connection.ts';
import { readSecret } from '../../output/terminal.ts';
import { formatAge } from '../../output/duration.ts';
import { printJson, printTable } from '../../output/table.ts';
import { chooseProject, addProjectOption } from '../../project/project-folder.ts';

interface Flags extends ConnectionFlags {
  project?: string;
  json?: true;
}

/** `phalanx secret set`, `list`, `delete`: values that the automations of a project read by name */
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
  for (const command of [set, list, remove])
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
