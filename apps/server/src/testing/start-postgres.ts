import { Client } from 'pg';

import { openDatabase } from '../db/database.ts';
import { startPostgres } from './postgres-engine.ts';

/** For all tests of a run: an engine with a database that has the tables and no rows. See `test-database.ts`. */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  const engine = await startPostgres();
  if (engine === undefined) return undefined;
  const client = new Client({ connectionString: `${engine.url}/postgres` });
  await client.connect();
  await client.query('CREATE DATABASE phalanx_template');
  await client.end();
  await (await openDatabase({ url: `${engine.url}/phalanx_template` })).destroy();
  process.env['TEST_POSTGRES'] = engine.url;
  return () => engine.stop();
}
