import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { readFileSync } from 'node:fs';
import type { ApiClient } from '@phalanx/client/api-client';
import { type Command, Option } from 'commander';
import { makeFolder } from '@phalanx/settings';
import { Type, type Static } from 'typebox';
import { Compile } from 'typebox/compile';

import { environment } from '../config.ts';
import { usageError } from '../exit-codes.ts';
import { clientFor } from './client-for.ts';

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
        `server address (PHALANX_SERVER_URL); default: the one stored by "phalanx login", or ${defaultServerUrl}`,
      ),
    )
    .addOption(
      new Option(
        '--token-file <file>',
        'file with the API token (PHALANX_TOKEN_FILE); default: the token stored by "phalanx login"',
      ),
    )
    .addOption(
      new Option(
        '--token <token>',
        'API token (PHALANX_TOKEN); other users of this machine can see it, so prefer a file',
      ),
    );
}

/** Returns the value of a variable. An empty variable counts as not set. */
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

/** Connects with flags, else variables, else the stored login. Throws a usage error without a token. */
export async function connect(flags: ConnectionFlags): Promise<Connection> {
  const token = givenToken(flags);
  const url = givenServerUrl(flags);
  if (token !== undefined && url !== undefined) return connectionTo(url, token);
  const login = await findLogin();
  const serverUrl = url ?? login?.server_url ?? defaultServerUrl;
  return connectionTo(serverUrl, token ?? storedToken(login, serverUrl));
}

/** Returns the stored token, but only for the server that it was stored for. */
function storedToken(login: Login | undefined, serverUrl: string): string {
  if (login?.server_url === serverUrl) return login.token;
  const reason = login === undefined ? 'No API token is set' : `The stored token is for ${login.server_url}`;
  throw usageError(
    `${reason}: run "phalanx login --server-url ${serverUrl}", or pass one with --token-file or PHALANX_TOKEN.`,
  );
}

const connectionTo = (serverUrl: string, token: string): Connection => ({
  api: clientFor(serverUrl, token),
  serverUrl,
  token,
});

/** Normalises an address, without a trailing slash. Throws a usage error that names the source of the address. */
function serverAddress(text: string, source: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isUsable = url !== undefined && ['http:', 'https:'].includes(url.protocol);
  if (!isUsable || url.search !== '' || url.hash !== '')
    throw usageError(`${source} must be an address such as https://phones.example.com, but is "${text}".`);
  if (url.username !== '' || url.password !== '')
    throw usageError(`${source} must not contain a user or password: pass the token in PHALANX_TOKEN.`);
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

const Login = Type.Object({ server_url: Type.String(), token: Type.String() });
export type Login = Static<typeof Login>;
const storedLogin = Compile(Login);

/** Returns the path of the login file. The XDG rule ignores a relative `XDG_CONFIG_HOME`. */
export function loginPath(): string {
  const given = environment['XDG_CONFIG_HOME'] ?? '';
  const folder = path.isAbsolute(given) ? given : path.join(homedir(), '.config');
  return path.join(folder, 'phalanx', 'login.json');
}

/** Returns the login that `phalanx login` stored, if any. */
async function findLogin(): Promise<Login | undefined> {
  const text = await readFile(loginPath(), 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw usageError(`${loginPath()} cannot be read: make it readable, or delete it and log in again.`);
  });
  if (text === undefined) return undefined;
  const value = parseJson(text);
  if (storedLogin.Check(value)) return value;
  throw usageError(`${loginPath()} is damaged: log in again with "phalanx login".`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Stores the login in a file that only its owner can read, from the first byte on. */
export async function storeLogin(value: Login): Promise<void> {
  const file = loginPath();
  makeFolder(path.dirname(file));
  const fresh = `${file}.${process.pid}`;
  await rm(fresh, { force: true });
  await writeFile(fresh, `${JSON.stringify(value)}\n`, { mode: 0o600, flag: 'wx' });
  await rename(fresh, file);
}

/** Deletes the stored login. Returns whether one existed. */
export async function deleteLogin(): Promise<boolean> {
  const known = await readFile(loginPath()).then(
    () => true,
    () => false,
  );
  await rm(loginPath(), { force: true });
  return known;
}

interface Sources {
  readonly token?: string | undefined;
  readonly tokenFile?: string | undefined;
}

/** Tokens, or names of files with tokens, as given by flags and by variables. */
interface GivenToken {
  readonly flags: Sources;
  readonly variables: Sources;
}

/** Returns the token from flags, else from variables. In each, a token goes before a file. */
function findToken({ flags, variables }: GivenToken): string | undefined {
  return (
    tokenOf(flags, { token: '--token', tokenFile: '--token-file' }) ??
    tokenOf(variables, { token: 'PHALANX_TOKEN', tokenFile: 'PHALANX_TOKEN_FILE' })
  );
}

function tokenOf({ token, tokenFile }: Sources, names: Record<keyof Sources, string>): string | undefined {
  if (token !== undefined) return checkedToken(token.trim(), names.token);
  if (tokenFile === undefined) return undefined;
  return tokenOfFile(tokenFile, names.tokenFile);
}

/** Reads a token from a file. `name` is the flag or variable that named the file. */
export const tokenOfFile = (file: string, name: string): string =>
  checkedToken(textOf(file, name), `The content of ${file}`);

function textOf(file: string, name: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    throw usageError(`${name}: ${file} cannot be read.`);
  }
}

export function checkedToken(token: string, source: string): string {
  if (/^[\x21-\x7e]{1,500}$/.test(token)) return token;
  throw usageError(
    `${source} is not a token: it must have 1 to 500 printable ASCII characters and no spaces.`,
  );
}
