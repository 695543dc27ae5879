import { once } from 'node:events';
import { createServer } from 'node:net';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';

import { withinEngineLimit } from './engine-limit.ts';
import { isPostgresHere } from './postgres-engine.ts';
import { postgresUrlOf } from './test-database.ts';

async function connectTo(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

test.skipIf(!isPostgresHere)('what waits for a lock for too long is told with who has it', async () => {
  const url = await postgresUrlOf('engine_limit_test');
  const [holder, waiter] = [await connectTo(url), await connectTo(url)];
  await holder.query('BEGIN');
  await holder.query('LOCK TABLE kysely_migration');
  const { rows } = await holder.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const work = () => waiter.query('SELECT name FROM kysely_migration');
  const waiting = withinEngineLimit({ what: 'A look at the migrations', url, work, limitMs: 200 });
  await expect(waiting).rejects.toThrow(/^A look at the migrations has taken more than 0\.2 s\./);
  await expect(waiting).rejects.toThrow(`"blocked_by":[${rows[0]?.pid}]`);
  await holder.query('ROLLBACK');
});

test('an engine that is gone, and whose port has somebody else, is told of', async () => {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  const url = `postgres://postgres@127.0.0.1:${typeof address === 'object' ? address?.port : 0}/postgres`;
  server.on('connection', (socket) => onTestFinished(() => void socket.destroy()));
  const work = () => new Client({ connectionString: url }).connect();
  await expect(withinEngineLimit({ what: 'A start', url, work, limitMs: 50 })).rejects.toThrow(
    /A start has taken .* does not answer either: .*timeout/,
  );
});

test('what ends in time is given, also as it fails', async () => {
  const url = 'postgres://127.0.0.1:9';
  expect(await withinEngineLimit({ what: 'It', url, work: async () => 1 })).toBe(1);
  const work = async (): Promise<never> => {
    throw new Error('as it is');
  };
  await expect(withinEngineLimit({ what: 'It', url, work })).rejects.toThrow('as it is');
});
