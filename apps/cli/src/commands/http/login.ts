import { accessRoutes, healthRoutes } from '@phalanx/protocol';
import type { Command } from 'commander';

import { clientFor } from '../../connection/client-for.ts';
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

/** Checks that the server answers before it asks for the token. */
async function askForToken(serverUrl: string): Promise<string> {
  await clientFor(serverUrl).call(healthRoutes.alive);
  return checkedToken(await readSecret(`API token for ${serverUrl}: `), 'The input');
}

/** `phalanx login` and `phalanx logout`: store and delete server and token for later calls. */
export function addLoginCommands(program: Command): void {
  const login = program
    .command('login')
    .description('check a token, and store it and the server address for later commands')
    .addHelpText(
      'after',
      `
Without a token in an option or a variable, the command prompts for it, or reads it from standard input. It stores the
token in $XDG_CONFIG_HOME/phalanx/login.json (default: ~/.config/phalanx), which only you can read, and sends it to no
other server.

Examples:
  phalanx login --server-url https://phones.example.com
  phalanx login < token.txt`,
    )
    .action(async (flags: ConnectionFlags) => {
      const serverUrl = serverUrlOrDefault(flags);
      const given = givenToken(flags) ?? (await askForToken(serverUrl));
      const { user, token } = await clientFor(serverUrl, given).call(accessRoutes.me);
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
    .description('delete the stored server address and token')
    .action(async () => {
      const was = await deleteLogin();
      console.log(was ? `Deleted ${loginPath()}.` : 'No login was stored.');
    });
}
