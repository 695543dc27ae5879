import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { isNatsHere } from './engines/nats-engine.ts';
import { isPostgresHere } from './engines/postgres-engine.ts';
import { isS3Here } from './engines/test-bucket.ts';
import { sharedSettings } from './shared-settings.ts';
import { TestServer } from './test-server.ts';

/** Whether the engines are here that several servers need. */
export const canBeSeveral = isPostgresHere && isNatsHere && isS3Here;

/** Starts `count` servers of one new database, each with a folder of its own. */
export async function startServers(
  count: number,
  settings: Record<string, string> = {},
): Promise<TestServer[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'phalanx-servers-'));
  const shared = { ...(await sharedSettings(folder)), ...settings };
  const servers: TestServer[] = [];
  for (let at = 0; at < count; at += 1)
    servers.push(await TestServer.start({ engine: 'SQLite', settings: shared }));
  return servers;
}
