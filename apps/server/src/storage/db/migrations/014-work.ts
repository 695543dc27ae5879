import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { createTrigger, dropTrigger, execute } from './001-schema/column-types.ts';

/** Time in ms for which a large pack is kept after its removal was recorded: one week. */
const largePackKeptMs = 604_800_000;

/** Returns a trigger statement that makes work due immediately. */
const enqueueing = (kind: string, rest: string): string =>
  `insert into work (kind, key, lane, due_at) select '${kind}', ${rest}
    on conflict (kind, key) do update set due_at = 0, attempts = 0, problem = '', is_again = 1`;

/** Moves pending work of all kinds into one table. */
export const work: Migration = {
  async up(db: Kysely<unknown>) {
    await execute(db, ({ text }) => [
      `create table work (
        kind ${text} not null, key ${text} not null, lane ${text} not null default '',
        due_at bigint not null, claimed_until bigint not null default 0, attempts bigint not null default 0,
        payload text, problem text not null default '', is_again bigint not null default 0,
        primary key (kind, key))`,
      'create index work_due on work (kind, due_at, lane)',
      `insert into work (kind, key, due_at)
        select 'delete captures', record_id, 0 from capture_deletion
        union all select 'delete kept logs', run_id, 0 from kept_chunk_deletion
        union all select 'delete large packs', large_key, removed_at + ${largePackKeptMs} from large_pack_removal`,
      `insert into work (kind, key, lane, due_at)
        select 'replay screens', id, made_by || ' ' || cause, created_at from replay where ended_at is null`,
      `insert into work (kind, key, due_at, payload)
        select 'mark solved groups', group_id || ' ' || commit_hash, noted_at,
          '{"group_id":"' || group_id || '","commit_hash":"' || commit_hash || '","user_id":"' || user_id || '"}'
        from group_solving`,
      'drop index replay_due',
      'alter table replay drop column claimed_until',
      'create index replay_unended on replay (made_by) where ended_at is null',
    ]);
    for (const table of ['run_file', 'film_part']) {
      await dropTrigger(db, `${table}s_end`, table);
      await createTrigger(db, {
        name: `${table}s_end`,
        on: `after delete on ${table}`,
        statement: enqueueing('delete captures', `old.run_id, '', 0 where 1 = 1`),
      });
    }
    await dropTrigger(db, 'run_kept_chunks_end', 'run');
    await createTrigger(db, {
      name: 'run_kept_chunks_end',
      on: 'after delete on run',
      statement: enqueueing(
        'delete kept logs',
        `old.id, '', 0 where exists (select 1 from kept_chunk where run_id = old.id)`,
      ),
    });
    await execute(db, () => [
      ...['capture_deletion', 'kept_chunk_deletion', 'large_pack_removal', 'group_solving'].map(
        (table) => `drop table ${table}`,
      ),
      // Servers of earlier releases would query these tables.
      `update installation set needs = '014-work'`,
    ]);
  },
};
