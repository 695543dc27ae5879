import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { makeFolder } from '@phalanx/settings';
import { Type, type Static } from 'typebox';
import { Compile } from 'typebox/compile';

import { environment } from '../config.ts';
import { usageError } from '../exit-codes.ts';

const Login = Type.Object({ server_url: Type.String(), token: Type.String() });
export type Login = Static<typeof Login>;
const login = Compile(Login);

/** The XDG rule: a relative `XDG_CONFIG_HOME` does not count. */
export function loginPath(): string {
  const given = environment['XDG_CONFIG_HOME'] ?? '';
  const folder = path.isAbsolute(given) ? given : path.join(homedir(), '.config');
  return path.join(folder, 'phalanx', 'login.json');
}

/** What `phalanx login` stored, if it did. */
export async function findLogin(): Promise<Login | undefined> {
  const text = await readFile(loginPath(), 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw usageError(`${loginPath()} cannot be read: make it readable, or delete it and log in again.`);
  });
  if (text === undefined) return undefined;
  const value = parse(text);
  if (login.Check(value)) return value;
  throw usageError(`${loginPath()} is damaged: log in again with "phalanx login".`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Only its owner can read the file; it is never there without these permissions. */
export async function storeLogin(value: Login): Promise<void> {
  const file = loginPath();
  makeFolder(path.dirname(file));
  const fresh = `${file}.${process.pid}`;
  await rm(fresh, { force: true });
  await writeFile(fresh, `${JSON.stringify(value)}\n`, { mode: 0o600, flag: 'wx' });
  await rename(fresh, file);
}

/** Whether there was one. */
export async function deleteLogin(): Promise<boolean> {
  const known = await readFile(loginPath()).then(
    () => true,
    () => false,
  );
  await rm(loginPath(), { force: true });
  return known;
}
