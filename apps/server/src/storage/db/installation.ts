import { randomBytes } from 'node:crypto';

import type { Db } from './tables/tables.ts';

const keyBytes = 32;

/** Reads the ID of the service, which all servers of its database share. */
export async function readInstallation(db: Db): Promise<string> {
  return (await db.selectFrom('installation').select('id').executeTakeFirstOrThrow()).id;
}

/** Reads the key that signs capture URLs. It is created at the first start and shared by all servers. */
export async function readUrlKey(db: Db): Promise<Buffer> {
  const offered = randomBytes(keyBytes).toString('hex');
  const row = await db
    .updateTable('installation')
    .set((eb) => ({ url_key: eb.fn.coalesce('url_key', eb.val(offered)) }))
    .returning('url_key')
    .executeTakeFirstOrThrow();
  return Buffer.from(row.url_key ?? offered, 'hex');
}
