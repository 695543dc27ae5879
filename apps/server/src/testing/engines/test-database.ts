import { createHash } from 'node:crypto';
import path from 'node:path';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { Client, escapeIdentifier } from 'pg';
import { sql } from 'kysely';
import { openDatabase, type Db } from '../../storage/db/database.ts';
import { isUniqueViolation } from '../../storage/db/dialect.ts';
import { errorCodeOf } from '../../kernel/errors/api-error.ts';
import { withinEngineLimit } from './engine-limit.ts';
import { askForEngine } from './shared-engine.ts';
import { stringAt } from '../string-at.ts';
import { afterThisFile } from '../file-clean-ups.ts';

/** URL of the engine of this run of the tests, without a database. */
const getEngineUrl = async (): Promise<string> => stringAt(await askForEngine('postgres'), 'url');

/**
 * `postgres`: each test server has a PostgreSQL, as in `npm run test:engines`. `servers`: each is three servers with PostgreSQL, NATS
 * and S3, and each request goes to another one of them, as in `npm run test:servers`.
 */
const testDatabase = process.env['TEST_DATABASE'];

export const isOnServers = testDatabase === 'servers';

export type Engine = 'SQLite' | 'PostgreSQL';

/** Engine of this run. */
export const defaultEngine: Engine = testDatabase === undefined ? 'SQLite' : 'PostgreSQL';

/** Engines on which a store has to work in this run, for `describe.each`. */
export const engines: readonly Engine[] = [defaultEngine];

/**
 * Whether to run tests of the files of a data folder. Several servers have what lasts in the database and in S3
 * ("Nodes" in docs/decisions/cluster.md), so that these tests are skipped with `TEST_DATABASE=servers`.
 */
export const isOneServer = !isOnServers;

async function administer(statement: string): Promise<void> {
  const url = `${await getEngineUrl()}/postgres`;
  const work = async (): Promise<void> => {
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      await client.query(statement);
    } finally {
      await client.end();
    }
  };
  await withinEngineLimit({ what: statement, url, work });
}

/** The address of a database of this name with empty tables, which is made when it is not there. */
export async function postgresUrlOf(name: string): Promise<string> {
  try {
    await administer(`CREATE DATABASE ${escapeIdentifier(name)} TEMPLATE phalanx_template`);
  } catch (error) {
    if (errorCodeOf(error) !== '42P04' && !isUniqueViolation(error)) throw error;
  }
  return `${await getEngineUrl()}/${name}`;
}

const nameFor = (folder: string): string =>
  `t${createHash('sha1').update(path.resolve(folder)).digest('hex').slice(0, 20)}`;

/** The settings of a server with this data folder: always the same database for one folder. */
export async function databaseSettings(
  dataDir: string,
  engine: Engine = defaultEngine,
): Promise<Record<string, string>> {
  return engine === 'PostgreSQL' ? { PHALANX_DATABASE_URL: await postgresUrlOf(nameFor(dataDir)) } : {};
}

/** Opens the tables of such a server, while it does not run. */
export async function openTablesOf(dataDir: string, engine: Engine = defaultEngine): Promise<Db> {
  const { PHALANX_DATABASE_URL: url } = await databaseSettings(dataDir, engine);
  return openDatabase(url === undefined ? { file: path.join(dataDir, 'phalanx.db') } : { url });
}

/** Drops the database of a server with this data folder. Call it when the server has ended. */
export async function dropDatabase(dataDir: string, engine: Engine = defaultEngine): Promise<void> {
  if (engine === 'PostgreSQL') await administer(`DROP DATABASE IF EXISTS ${nameFor(dataDir)} WITH (FORCE)`);
}

/** Opens empty tables, until the tests of the file have ended. */
export async function openTestDatabase(engine: Engine): Promise<Db> {
  const folder = await mkdtemp(path.join(tmpdir(), 'phalanx-tables-'));
  afterThisFile(() => rm(folder, { recursive: true, force: true }));
  afterThisFile(() => dropDatabase(folder, engine));
  const db = await openTablesOf(folder, engine);
  afterThisFile(() => db.destroy());
  if (engine === 'SQLite') await sql`pragma synchronous = off`.execute(db);
  return db;
}
