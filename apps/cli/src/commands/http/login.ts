import { accessRoutes, healthRoutes } from '@phalanx/protocol';
import type { Command } from 'commander';

import { ApiClient } from '../../api-client.ts';
import {
  addConnectionOptions,
  givenToken,
  serverUrlOrDefault,
  type ConnectionFlags,
  deleteLogin,
  loginPath,
  storeLogin,
  checkedToken,
} from '../../connection/connection.ts';
import { readSecret, printable } from '../../output/terminal.ts';

/** Looks for the server first, so that nobody types a token in vain. */
async function askForToken(serverUrl: string): Promise<string> {
  await new ApiClient(serverUrl).call(healthRoutes.alive);
  return checkedToken(await readSecret(`API token for ${serverUrl}: `), 'What was given');
}

/** `phalanx login`, `phalanx logout`: keep server and token for later calls. */
export function addLoginCommands(program: Command): void {
  const login = program
    .command('login')
    .description('check a token and store it with the server for later calls')
    .addHelpText(
      'after',
      `
The token is asked for, or read from standard input, unless an option or a variable has it. It is stored in
$XDG_CONFIG_HOME/phalanx/login.json (default ~/.config/phalanx), which only you can read, and goes to no other server.

Examples:
  phalanx login --server-url https://phones.example.com
  phalanx login < token.txt`,
    )
    .action(async (flags: ConnectionFlags) => {
      const serverUrl = serverUrlOrDefault(flags);
      const given = givenToken(flags) ?? (await askForToken(serverUrl));
      const { user, token } = await new ApiClient(serverUrl, given).call(accessRoutes.me);
      await storeLogin({ server_url: serverUrl, token: given });
      console.log(
        printable(
          `Logged in to ${serverUrl} as ${user.name}, with the token "${token.name}" (${token.scopes.join(', ')}).`,
        ),
      );
    });
  addConnectionOptions(login);
  program
    .command('logout')
    .description('forget the stored server and token')
    .action(async () => {
      const was = await deleteLogin();
      console.log(was ? `${loginPath()} was deleted.` : 'There was no stored token.');
    });
}
