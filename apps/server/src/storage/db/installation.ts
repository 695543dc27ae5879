import { randomBytes } from 'node:crypto';

import type { Db } from './tables/tables.ts';

const keyBytes = 32;

/** ID of the service, the same at all servers of its database. */
export async function readInstallation(db: Db): Promise<string> {
  return (await db.selectFrom('installation').select('id').executeTakeFirstOrThrow()).id;
}

/** The key that signs addresses of captures: made at the first start, the same at all servers. */
export async function readUrlKey(db: Db): Promise<Buffer> {
  const offered = randomBytes(keyBytes).toString('hex');
  const row = await db
    .updateTable('installation')
    .set((eb) => ({ url_key: eb.fn.coalesce('url_key', eb.val(offered)) }))
    .returning('url_key')
    .executeTakeFirstOrThrow();
  return Buffer.from(row.url_key ?? offered, 'hex');
}
