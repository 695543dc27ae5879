import { Client } from 'pg';

import { openDatabase } from '../db/database.ts';
import { startNats } from './nats-engine.ts';
import { type PostgresEngine, startPostgres } from './postgres-engine.ts';

/** A database that has the tables and no rows. See `test-database.ts`. */
async function layTemplate({ url }: PostgresEngine): Promise<void> {
  const client = new Client({ connectionString: `${url}/postgres` });
  await client.connect();
  await client.query('CREATE DATABASE phalanx_template');
  await client.end();
  await (await openDatabase({ url: `${url}/phalanx_template` })).destroy();
}

/** For all tests of a run: the engines that several servers share, where they are installed. */
export async function setup(): Promise<() => Promise<void>> {
  const [postgres, nats] = await Promise.all([startPostgres(), startNats()]);
  if (postgres !== undefined) {
    await layTemplate(postgres);
    process.env['TEST_POSTGRES'] = postgres.url;
  }
  if (nats !== undefined) process.env['TEST_NATS'] = nats.url;
  return async () => {
    await Promise.all([postgres?.stop(), nats?.stop()]);
  };
}
