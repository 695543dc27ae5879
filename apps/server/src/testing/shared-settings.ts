import { makeTestBucket } from './engines/test-bucket.ts';
import { databaseSettings } from './engines/test-database.ts';
import { getNatsUrl } from './engines/shared-engine.ts';

/** Settings that several servers have in common: those of one folder always the same database. */
export async function sharedSettings(folder: string): Promise<Record<string, string>> {
  const { settings } = await makeTestBucket();
  return {
    ...(await databaseSettings(folder, 'PostgreSQL')),
    ...settings,
    PHALANX_NATS_URL: await getNatsUrl(),
    PHALANX_PUBLIC_URL: 'http://127.0.0.1:1',
  };
}
