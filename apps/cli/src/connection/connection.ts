import { type Command, Option } from 'commander';

import { ApiClient } from '../api-client.ts';
import { environment } from '../config.ts';
import { usageError } from '../exit-codes.ts';
import { findToken } from './given-token.ts';
import { findLogin, type Login } from './login-file.ts';

export interface ConnectionFlags {
  serverUrl?: string;
  token?: string;
  tokenFile?: string;
}

export interface Connection {
  readonly api: ApiClient;
  readonly serverUrl: string;
  readonly token: string;
}

const defaultServerUrl = 'http://127.0.0.1:8080';

export function addConnectionOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--server-url <url>',
        `address of the server (PHALANX_SERVER_URL, or what "phalanx login" stored). Default: ${defaultServerUrl}.`,
      ),
    )
    .addOption(
      new Option(
        '--token-file <file>',
        'file with the API token (PHALANX_TOKEN_FILE; else what "phalanx login" stored)',
      ),
    )
    .addOption(
      new Option(
        '--token <token>',
        'API token (PHALANX_TOKEN); others on this machine can see it: prefer a file',
      ),
    );
}

/** An empty variable counts as not set. */
const variable = (name: string): string | undefined => environment[name]?.trim() || undefined;

function givenServerUrl(flags: ConnectionFlags): string | undefined {
  if (flags.serverUrl !== undefined) return serverAddress(flags.serverUrl, '--server-url');
  const text = variable('PHALANX_SERVER_URL');
  return text === undefined ? undefined : serverAddress(text, 'PHALANX_SERVER_URL');
}

export const givenToken = ({ token, tokenFile }: ConnectionFlags): string | undefined =>
  findToken({
    flags: { token, tokenFile },
    variables: { token: variable('PHALANX_TOKEN'), tokenFile: variable('PHALANX_TOKEN_FILE') },
  });

export const serverUrlOrDefault = (flags: ConnectionFlags): string =>
  givenServerUrl(flags) ?? defaultServerUrl;

/** Who to ask as whom: flags before variables before the stored login. Throws a usage error without a token. */
export async function connect(flags: ConnectionFlags): Promise<Connection> {
  const token = givenToken(flags);
  const url = givenServerUrl(flags);
  if (token !== undefined && url !== undefined) return connectionTo(url, token);
  const login = await findLogin();
  const serverUrl = url ?? login?.server_url ?? defaultServerUrl;
  return connectionTo(serverUrl, token ?? storedToken(login, serverUrl));
}

/** A token goes to no other server than the one that it was stored for. */
function storedToken(login: Login | undefined, serverUrl: string): string {
  if (login?.server_url === serverUrl) return login.token;
  const reason = login === undefined ? 'There is no token' : `The stored token is for ${login.server_url}`;
  throw usageError(
    `${reason}: run "phalanx login --server-url ${serverUrl}", or give one with --token-file or PHALANX_TOKEN.`,
  );
}

const connectionTo = (serverUrl: string, token: string): Connection => ({
  api: new ApiClient(serverUrl, token),
  serverUrl,
  token,
});

/** The address in its one form, without a slash at the end. Throws a usage error that names where it came from. */
function serverAddress(text: string, source: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isUsable = url !== undefined && ['http:', 'https:'].includes(url.protocol);
  if (!isUsable || url.search !== '' || url.hash !== '')
    throw usageError(`${source} must be an address such as https://phones.example.com; it is "${text}".`);
  if (url.username !== '' || url.password !== '')
    throw usageError(`${source} must not hold a user or password: give the token with PHALANX_TOKEN.`);
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}
