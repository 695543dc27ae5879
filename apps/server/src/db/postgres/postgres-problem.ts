import { SettingError } from '@phalanx/settings';
import { sql, type Kysely } from 'kysely';

import { errorCodeOf } from '../../errors/error-code.ts';

/** Older ones are no longer mended by those who make them. */
const oldestVersion = 14;

/** What PostgreSQL and the system say, after "PostgreSQL". None of it shows the address, which holds the password. */
const problems: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'does not answer: nothing listens at its address. Start it',
  ENOTFOUND: 'does not answer: the name of its machine is unknown',
  EAI_AGAIN: 'does not answer: the name of its machine can not be looked up now',
  ETIMEDOUT: 'does not answer in time',
  EHOSTUNREACH: 'does not answer: there is no way to its machine',
  ENETUNREACH: 'does not answer: there is no way to its machine',
  ECONNRESET: 'has cut the connection',
  ENOENT: 'does not answer: there is no socket at its path',
  '28P01': 'refuses the user: the password is wrong',
  '28000': 'refuses the user: look at its pg_hba.conf',
  '3D000': 'has no database of this name: make it with createdb',
  '42501': 'lets the user make no tables: make the user the owner of the database',
  '53300': 'has no connection left: raise its max_connections',
  '57P03': 'is still starting or already stopping',
};

function problemOf(error: unknown): string | undefined {
  for (let next = error; next instanceof Error; next = next.cause) {
    const code = errorCodeOf(next);
    const problem = problems[code];
    if (problem !== undefined) return problem;
    if (/timeout/i.test(next.message)) return problems['ETIMEDOUT'];
    if (/SSL|TLS|certificate|password must be a string/i.test(next.message)) return `says: ${next.message}`;
    if (next.message.startsWith('Connection terminated')) return problems['ECONNRESET'];
  }
  return undefined;
}

const refusal = (problem: string, cause?: unknown): SettingError =>
  new SettingError(`PostgreSQL ${problem}; see PHALANX_DATABASE_URL.`, { cause });

/** As one line for people; a mistake of ours is returned as it is. */
export function explainPostgres(error: unknown): unknown {
  if (error instanceof SettingError) return error;
  const problem = problemOf(error);
  return problem === undefined ? error : refusal(problem, error);
}

/** Throws a `SettingError` when it is too old or stores texts in another way. */
export async function requirePostgres<Tables>(db: Kysely<Tables>): Promise<void> {
  const { rows } = await sql<{ version: number; encoding: string }>`
    SELECT current_setting('server_version_num')::bigint / 10000 AS version,
      current_setting('server_encoding') AS encoding`.execute(db);
  const [{ version, encoding } = { version: 0, encoding: '' }] = rows;
  if (version < oldestVersion) throw refusal(`${version} is too old: ${oldestVersion} or newer is needed`);
  if (encoding !== 'UTF8') throw refusal(`has a database in ${encoding}: make it with the encoding UTF8`);
}
