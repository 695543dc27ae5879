import { readFileSync } from 'node:fs';

import { usageError } from '../exit-codes.ts';

interface Sources {
  readonly token?: string | undefined;
  readonly tokenFile?: string | undefined;
}

/** A token as such, or as the name of a file that holds it, with the names to speak of them. */
export interface GivenToken {
  readonly flags: Sources;
  readonly variables: Sources;
}

/** Flags before variables, and in each a token before a file. */
export function findToken({ flags, variables }: GivenToken): string | undefined {
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

/** `name`: how the file was given. */
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
