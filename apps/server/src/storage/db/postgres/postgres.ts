import { Socket } from 'node:net';
import {
  type ColumnDefinitionNode,
  type DatabaseConnection,
  DataTypeNode,
  type Driver,
  Kysely,
  type KyselyPlugin,
  OperationNodeTransformer,
  type PluginTransformQueryArgs,
  type PluginTransformResultArgs,
  PostgresDialect,
  PostgresDriver,
  PostgresQueryCompiler,
  type QueryCompiler,
  type QueryId,
  type QueryResult,
  RawNode,
  type RootOperationNode,
  type UnknownRow,
  sql,
} from 'kysely';
import { Client, type ClientConfig, DatabaseError, Pool, type PoolClient, TypeOverrides, types } from 'pg';
import { SettingError } from '@phalanx/settings';
import { errorCodeOf } from '../../../kernel/errors/api-error.ts';
import { PartFailed } from '../../../kernel/faults/fault-monitor.ts';
import { SilenceWatch } from './silence-watch.ts';
import { storable } from '../storable-text.ts';
import type { Database, Db } from '../tables/tables.ts';

/** Client with a connect timeout. The timeout of a pool would also count the wait for a free connection. */
export class ClientWithConnectTimeout extends Client {
  constructor(config?: string | ClientConfig) {
    super({ connectionTimeoutMillis: connectTimeoutMs, ...(typeof config === 'object' && config) });
  }
}

/** Maximum connections, enough for the processors of a database; more work waits for its turn here. */
const maxConnections = 10;
const connectTimeoutMs = 5000;
const pingTimeoutMs = 1500;
/** No statement of ours takes a second; one that waits this long waits for something that has gone wrong. */
const timeouts = {
  statement_timeout: 30_000,
  lock_timeout: 10_000,
  idle_in_transaction_session_timeout: 30_000,
};

/** Parsers of 64-bit integers and their sums: ours are all below 2^53. */
const parsers = new TypeOverrides();
parsers.setTypeParser(types.builtins.INT8, Number);
parsers.setTypeParser(types.builtins.NUMERIC, Number);

export const clientConfig = (url: string): ClientConfig => ({
  connectionString: url,
  application_name: 'phalanx',
  keepAlive: true,
  types: parsers,
});

/** Makes the tables what the release needs, or throws. */
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

/** Opens the database as it is. Throws a `SettingError` when it can't be used. */
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

function connect(url: string): Db {
  const sockets = new Set<Socket>();
  const stream = (): Socket => {
    const socket = new Socket();
    sockets.add(socket.once('close', () => sockets.delete(socket)));
    return socket;
  };
  const pool = new Pool({
    ...clientConfig(url),
    ...timeouts,
    stream,
    Client: ClientWithConnectTimeout,
    max: maxConnections,
  });
  keepErrors(pool);
  const watch = new SilenceWatch({
    ping: () => ping(url),
    onSilence: () => {
      for (const socket of sockets) socket.destroy();
    },
    silenceError: () => unavailable('it does not answer', undefined),
  });
  return new Kysely<Database>({ dialect: new FaultReportingDialect(pool, watch) });
}

/** Code of PostgreSQL while it is starting or stopping. */
const notUp = '57P03';

/** Resolves when PostgreSQL answers, even if it says that it has no connection left. */
async function ping(url: string): Promise<void> {
  const client = new ClientWithConnectTimeout({
    ...clientConfig(url),
    connectionTimeoutMillis: pingTimeoutMs,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.code === notUp) throw error;
  } finally {
    void client.end().catch(() => undefined);
  }
}

/** Prepares the tables without the timeouts of statements: a migration may take long. */
async function prepareTables(url: string, prepare: Prepare): Promise<void> {
  const pool = new Pool({ ...clientConfig(url), Client: ClientWithConnectTimeout, max: 1 });
  keepErrors(pool);
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
  try {
    await requirePostgres(db);
    await prepare(db.withPlugin(new BinaryOrder()));
  } finally {
    await db.destroy();
  }
}

/**
 * A connection that is cut emits an error of its own, beside that of the statement under way, and one that nobody
 * hears ends the process.
 */
function keepErrors(pool: Pool): void {
  pool.on('error', () => undefined);
  pool.on('connect', (client: PoolClient) => client.on('error', () => undefined));
}

class FaultReportingDialect extends PostgresDialect {
  readonly #pool: Pool;
  readonly #watch: SilenceWatch;

  constructor(pool: Pool, watch: SilenceWatch) {
    super({ pool, controlClient: Client });
    this.#pool = pool;
    this.#watch = watch;
  }

  override createDriver(): Driver {
    return new FaultReportingDriver({ pool: this.#pool, controlClient: Client }, this.#watch);
  }

  override createQueryCompiler(): QueryCompiler {
    return new StorableTexts();
  }
}

/** Marks errors with codes of the system, which disks and programs have too, as faults of the database. */
class FaultReportingDriver extends PostgresDriver {
  readonly #telling = new WeakSet<DatabaseConnection>();
  readonly #watch: SilenceWatch;

  constructor(config: ConstructorParameters<typeof PostgresDriver>[0], watch: SilenceWatch) {
    super(config);
    this.#watch = watch;
  }

  override async destroy(): Promise<void> {
    this.#watch.close();
    await super.destroy();
  }

  override async acquireConnection(
    ...args: Parameters<PostgresDriver['acquireConnection']>
  ): Promise<DatabaseConnection> {
    try {
      const acquire = () => super.acquireConnection(...args);
      return this.#tell(await this.#watch.guard(acquire, (late) => void giveBack(this, late)));
    } catch (error) {
      if (error instanceof PartFailed) throw error;
      throw unavailable('no connection can be made', error);
    }
  }

  #tell(connection: DatabaseConnection): DatabaseConnection {
    if (this.#telling.has(connection)) return connection;
    this.#telling.add(connection);
    const execute = connection.executeQuery.bind(connection);
    connection.executeQuery = async <Result>(...query: Parameters<typeof execute>) => {
      try {
        return await this.#watch.guard(() => execute<Result>(...query));
      } catch (error) {
        throw cutCodes.has(errorCodeOf(error)) ? unavailable('the connection was cut', error) : error;
      }
    };
    return connection;
  }
}

const giveBack = (driver: Driver, connection: DatabaseConnection): Promise<void> =>
  driver.releaseConnection(connection);

const cutCodes: ReadonlySet<string> = new Set([
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENETUNREACH',
  'EHOSTUNREACH',
]);

const unavailable = (reason: string, cause: unknown): PartFailed =>
  new PartFailed({ part: 'database', code: 'database_unavailable', reason }, { cause });

/** Makes each text storable, whoever it comes from; it is found by the same text. */
class StorableTexts extends PostgresQueryCompiler {
  protected override addParameter(parameter: unknown): void {
    super.addParameter(storable(parameter));
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

/** Columns of text that PostgreSQL sorts by code point, as SQLite does: its own order follows a language. */
class BinaryOrder implements KyselyPlugin {
  readonly #transformer = new ColumnTransformer();

  transformQuery({ node, queryId }: PluginTransformQueryArgs): RootOperationNode {
    return this.#transformer.transformNode(node, queryId);
  }

  async transformResult({ result }: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>> {
    return result;
  }
}

/** Oldest version that is supported here; the makers of PostgreSQL do not mend older ones any more. */
const oldestVersion = 14;

/** Problems by error code, as they follow "PostgreSQL". None of them shows the address, which holds the password. */
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

/** Explains an error in one line for people; a mistake of ours is returned as it is. */
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
