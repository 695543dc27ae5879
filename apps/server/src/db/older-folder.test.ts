import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect, it } from 'vitest';

import { TestServer } from '../testing/test-server.ts';

/** Its columns of numbers have another name for their type. */
const dump = readFileSync(path.join(import.meta.dirname, 'testing', 'data-folder-0.1.sql'), 'utf8');
const runId = '01a2013f-b9c9-7000-8b6e-0240f87fd5d3';

it('the data folder of release 0.1 is taken up with all that is in it, and goes on', async () => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'phalanx-older-'));
  const sqlite = new Sqlite(path.join(dataDir, 'phalanx.db'));
  sqlite.exec(dump);
  sqlite.close();
  const server = await TestServer.start({ dataDir, engine: 'SQLite' });
  expect(await server.run(runId)).toMatchObject({ status: 'completed', result: { paid: true } });
  const { body } = await server.api('GET', '/api/v2/usage');
  expect(JSON.stringify(body)).toContain('"used":262145');
  const { host, deviceId } = await server.connectHost({ serials: ['one'] });
  expect(deviceId).toBe('01a2013f-b4be-711c-a038-baca1ae74ef3');
  await server.startRun(host, deviceId);
  await host.cut();
  await server.dispose();
});
