import type { Kysely } from 'kysely';
import { createTrigger, execute } from './column-types.ts';

interface Counted {
  table: string;
  column: string;
  user: string;
  kind: 'captures' | 'projects' | 'logs' | 'work';
}

const counted: readonly Counted[] = [
  { table: 'record', column: 'capture_bytes', user: 'user_id', kind: 'captures' },
  { table: 'run_file', column: 'size_bytes', user: 'user_id', kind: 'captures' },
  { table: 'film_part', column: 'size_bytes', user: 'user_id', kind: 'captures' },
  { table: 'project', column: 'size_bytes', user: 'owner_id', kind: 'projects' },
  { table: 'kept_log', column: 'bytes', user: 'user_id', kind: 'logs' },
];

/** Creates the sums of stored bytes per user. Triggers update them in the transaction that changes a row. */
export async function createStoredBytes(db: Kysely<unknown>): Promise<void> {
  await execute(db, ({ text }) => [
    `create table stored_bytes (
      user_id ${text} not null, kind ${text} not null, bytes bigint not null, primary key (user_id, kind))`,
  ]);
  for (const one of counted) await count(db, one);
}

/** Creates triggers that count a column of a table for a user, for every insert, update and delete of its rows. */
export async function count(db: Kysely<unknown>, one: Counted): Promise<void> {
  const { table, column } = one;
  const [before, after] = [`old.${column}`, `new.${column}`];
  await createTrigger(db, {
    name: `${table}_bytes_begin`,
    on: `after insert on ${table}`,
    when: `${after} <> 0`,
    statement: adding(one, after),
  });
  await createTrigger(db, {
    name: `${table}_bytes_change`,
    on: `after update of ${column} on ${table}`,
    statement: adding(one, `${after} - ${before}`),
  });
  await createTrigger(db, {
    name: `${table}_bytes_end`,
    on: `after delete on ${table}`,
    when: `${before} <> 0`,
    statement: removing(one, before),
  });
}

type Sum = Pick<Counted, 'user' | 'kind'>;

/** Returns a trigger statement that adds bytes to the user of the new row. */
export const adding = ({ user, kind }: Sum, bytes: string): string =>
  `insert into stored_bytes (user_id, kind, bytes) values (new.${user}, '${kind}', ${bytes})
      on conflict (user_id, kind) do update set bytes = stored_bytes.bytes + excluded.bytes`;

/** Returns a trigger statement that subtracts bytes from the user of the old row. */
export const removing = ({ user, kind }: Sum, bytes: string): string =>
  `update stored_bytes set bytes = bytes - ${bytes} where user_id = old.${user} and kind = '${kind}'`;
