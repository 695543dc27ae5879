import {
  type ColumnDefinitionNode,
  DataTypeNode,
  Kysely,
  type KyselyPlugin,
  OperationNodeTransformer,
  type PluginTransformQueryArgs,
  type PluginTransformResultArgs,
  PostgresDialect,
  type QueryId,
  type QueryResult,
  RawNode,
  type RootOperationNode,
  type UnknownRow,
  sql,
} from 'kysely';
import { type ClientConfig, Pool, TypeOverrides, types } from 'pg';
import { SettingError } from '@phalanx/settings';
import { errorCodeOf } from '../../../kernel/errors/api-error.ts';
import type { Database, Db } from '../tables/tables.ts';
import { keepErrors, WatchedPool } from './watched-pool.ts';

export const connectTimeoutMs = 5000;
/** Idle time in ms after which TCP probes the connection. A lost connection is detected within 15 s. */
const keepAliveMs = 5000;

/** Parsers for 64-bit integers and their sums, which are all below 2^53 here. */
const parsers = new TypeOverrides();
parsers.setTypeParser(types.builtins.INT8, Number);
parsers.setTypeParser(types.builtins.NUMERIC, Number);

export const clientConfig = (url: string): ClientConfig => ({
  connectionString: url,
  application_name: 'phalanx',
  keepAlive: true,
  keepAliveInitialDelayMillis: keepAliveMs,
  types: parsers,
});

/** Prepares the tables for the release, or throws. */
export type Prepare = (db: Kysely<Database>) => Promise<unknown>;

/** Opens the database. Throws a `SettingError` when it can't be used. */
export async function openPostgres(url: string, prepare: Prepare): Promise<Db> {
  try {
    await prepareTables(url, prepare);
  } catch (error) {
    throw explainPostgres(error);
  }
  return connect(url);
}

/** Opens the database without preparing its tables. Throws a `SettingError` when it can't be used. */
export async function readPostgres(url: string): Promise<Db> {
  const db = connect(url);
  try {
    await requirePostgres(db);
    return db;
  } catch (error) {
    await db.destroy();
    throw explainPostgres(error);
  }
}

const connect = (url: string): Db =>
  new Kysely<Database>({ dialect: new PostgresDialect({ pool: new WatchedPool(clientConfig(url)) }) });

/** Prepares the tables without statement timeouts, because a migration may take long. */
async function prepareTables(url: string, prepare: Prepare): Promise<void> {
  const config = { ...clientConfig(url), connectionTimeoutMillis: connectTimeoutMs, max: 1 };
  const pool = keepErrors(new Pool(config));
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
  try {
    await requirePostgres(db);
    await prepare(db.withPlugin(new BinaryOrder()));
  } finally {
    await db.destroy();
  }
}

class ColumnTransformer extends OperationNodeTransformer {
  protected override transformColumnDefinition(
    node: ColumnDefinitionNode,
    queryId?: QueryId,
  ): ColumnDefinitionNode {
    const column = super.transformColumnDefinition(node, queryId);
    const { dataType } = column;
    if (!DataTypeNode.is(dataType) || dataType.dataType !== 'text') return column;
    return { ...column, dataType: RawNode.createWithSql('text collate "C"') };
  }
}

/** Makes PostgreSQL sort text columns by code point, as SQLite does, instead of by a language. */
class BinaryOrder implements KyselyPlugin {
  readonly #transformer = new ColumnTransformer();

  transformQuery({ node, queryId }: PluginTransformQueryArgs): RootOperationNode {
    return this.#transformer.transformNode(node, queryId);
  }

  async transformResult({ result }: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>> {
    return result;
  }
}

/** Oldest supported version; older ones are no longer maintained. */
const oldestVersion = 14;

/**
 * Problems by error code; the texts follow the word "PostgreSQL". They omit the address, which contains the password.
 */
const problems: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'does not answer: nothing listens at its address. Start it',
  ENOTFOUND: 'does not answer: the name of its machine is unknown',
  EAI_AGAIN: 'does not answer: the name of its machine cannot be looked up now',
  ETIMEDOUT: 'does not answer in time',
  EHOSTUNREACH: 'does not answer: there is no way to its machine',
  ENETUNREACH: 'does not answer: there is no way to its machine',
  ECONNRESET: 'has cut the connection',
  ENOENT: 'does not answer: there is no socket at its path',
  '28P01': 'refuses the user: the password is wrong',
  '28000': 'refuses the user: check its pg_hba.conf',
  '3D000': 'has no database of this name: make it with createdb',
  '42501': 'does not let the user create tables: make the user the owner of the database',
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

/** Explains an error in one line for users; a bug of the service is returned unchanged. */
export function explainPostgres(error: unknown): unknown {
  if (error instanceof SettingError) return error;
  const problem = problemOf(error);
  return problem === undefined ? error : refusal(problem, error);
}

/** Throws a `SettingError` when PostgreSQL is too old or the database is not in UTF-8. */
async function requirePostgres<Tables>(db: Kysely<Tables>): Promise<void> {
  const { rows } = await sql<{ version: number; encoding: string }>`
    SELECT current_setting('server_version_num')::bigint / 10000 AS version,
      current_setting('server_encoding') AS encoding`.execute(db);
  const [{ version, encoding } = { version: 0, encoding: '' }] = rows;
  if (version < oldestVersion) throw refusal(`${version} is too old: ${oldestVersion} or newer is needed`);
  if (encoding !== 'UTF8') throw refusal(`has a database in ${encoding}: make it with the encoding UTF8`);
}
