import { createHash } from 'node:crypto';
import path from 'node:path';
import { Client, escapeIdentifier } from 'pg';

import { openDatabase, type Db } from '../db/database.ts';
import { isUniqueViolation } from '../db/unique-violation.ts';
import { errorCodeOf } from '../error-code.ts';

/** Of the engine of this run of the tests, without a database; undefined where PostgreSQL is not installed. */
const engineUrl = process.env['TEST_POSTGRES'];

/** By `TEST_DATABASE=servers`: each request of the server's tests goes to another one of three servers. */
export const isOnServers = process.env['TEST_DATABASE'] === 'servers';

export type Engine = 'SQLite' | 'PostgreSQL';

const hereAre: readonly Engine[] = engineUrl === undefined ? ['SQLite'] : ['SQLite', 'PostgreSQL'];

/** For `describe.each`: what a store has to work on. A file of SQLite belongs to one server. */
export const engines = isOnServers ? hereAre.filter((engine) => engine === 'PostgreSQL') : hereAre;

/**
 * For tests of the files of a data folder: several servers have what lasts in the database and in S3 ("Servers" in
 * docs/decisions/several-servers.md). They are skipped with `TEST_DATABASE=servers`.
 */
export const isOneServer = !isOnServers;

/** Whether this run has the server's tests on PostgreSQL, by `TEST_DATABASE=postgres` or `servers`. */
export const isOnPostgres = process.env['TEST_DATABASE'] === 'postgres' || isOnServers;

/** Of this run. */
export const defaultEngine: Engine = isOnPostgres ? 'PostgreSQL' : 'SQLite';

async function administer(statement: string): Promise<void> {
  const client = new Client({ connectionString: `${engineUrl}/postgres` });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** The address of a database of this name with empty tables, which is made when it is not there. */
export async function postgresUrlOf(name: string): Promise<string> {
  if (engineUrl === undefined) throw new Error('PostgreSQL is not installed: apt-get install postgresql');
  try {
    await administer(`CREATE DATABASE ${escapeIdentifier(name)} TEMPLATE phalanx_template`);
  } catch (error) {
    if (errorCodeOf(error) !== '42P04' && !isUniqueViolation(error)) throw error;
  }
  return `${engineUrl}/${name}`;
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

/** The tables of such a server, while it does not run. */
export async function openTablesOf(dataDir: string, engine: Engine = defaultEngine): Promise<Db> {
  const { PHALANX_DATABASE_URL: url } = await databaseSettings(dataDir, engine);
  return openDatabase(url === undefined ? { file: path.join(dataDir, 'phalanx.db') } : { url });
}

/** When a server with this data folder has ended. */
export async function dropDatabase(dataDir: string, engine: Engine = defaultEngine): Promise<void> {
  if (engine === 'PostgreSQL') await administer(`DROP DATABASE IF EXISTS ${nameFor(dataDir)} WITH (FORCE)`);
}
