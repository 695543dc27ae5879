import type { Db } from './tables.ts';

/** ID of what all servers of a database are together. PostgreSQL's. */
export async function readInstallation(db: Db): Promise<string> {
  return (await db.selectFrom('installation').select('id').executeTakeFirstOrThrow()).id;
}

/** The first key stays. Returns which one that is. */
export async function agreeOnUrlKey(db: Db, offered: string): Promise<string> {
  const row = await db
    .updateTable('installation')
    .set((eb) => ({ url_key: eb.fn.coalesce('url_key', eb.val(offered)) }))
    .returning('url_key')
    .executeTakeFirstOrThrow();
  return row.url_key ?? offered;
}
