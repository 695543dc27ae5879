import { once } from 'node:events';
import { createServer } from 'node:http';
import { Client } from 'pg';

import { openDatabase } from '../../storage/db/database.ts';
import { startNats } from './nats-engine.ts';
import { type PostgresEngine, startPostgres } from './postgres-engine.ts';
import { startS3 } from './s3-engine.ts';

interface StartedEngine {
  /** Sent as JSON to the tests that ask for it. */
  readonly address: object;
  stop(): Promise<void>;
}

/** A database that has the tables and no rows. See `test-database.ts`. */
async function layTemplate({ url }: PostgresEngine): Promise<void> {
  const client = new Client({ connectionString: `${url}/postgres` });
  await client.connect();
  await client.query('CREATE DATABASE phalanx_template');
  await client.end();
  await (await openDatabase({ url: `${url}/phalanx_template` })).destroy();
}

const starts = new Map<string, () => Promise<StartedEngine>>([
  [
    'postgres',
    async () => {
      const engine = await startPostgres();
      if (engine === undefined) throw new Error('PostgreSQL is not installed');
      await layTemplate(engine);
      return { address: { url: engine.url }, stop: () => engine.stop() };
    },
  ],
  [
    'nats',
    async () => {
      const engine = await startNats();
      if (engine === undefined) throw new Error('nats-server is not installed');
      return { address: { url: engine.url }, stop: () => engine.stop() };
    },
  ],
  [
    's3',
    async () => {
      const engine = await startS3(process.env['TEST_S3_ROOT'] ?? '');
      const { endpoint, accessKey, secretKey } = engine;
      return { address: { endpoint, accessKey, secretKey }, stop: () => engine.stop() };
    },
  ],
]);

/**
 * One PostgreSQL, one NATS and one S3 for all tests of a run. Each starts when the first test asks for it at the
 * address in `TEST_ENGINES` (`shared-engine.ts`), because most runs need none.
 */
export async function setup(): Promise<() => Promise<void>> {
  const started = new Map<string, Promise<StartedEngine>>();
  const startOnce = (name: string): Promise<StartedEngine> => {
    const engine =
      started.get(name) ?? starts.get(name)?.() ?? Promise.reject(new Error(`no engine ${name}`));
    started.set(name, engine);
    // The next test that asks tries again.
    engine.catch(() => started.delete(name));
    return engine;
  };
  const server = createServer((request, response) => {
    startOnce((request.url ?? '').slice(1)).then(
      ({ address }) => response.end(JSON.stringify(address)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  process.env['TEST_ENGINES'] = `http://127.0.0.1:${port}`;
  return async () => {
    server.close();
    server.closeAllConnections();
    for (const engine of await Promise.allSettled(started.values()))
      if (engine.status === 'fulfilled') await engine.value.stop();
  };
}
