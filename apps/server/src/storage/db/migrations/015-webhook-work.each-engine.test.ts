import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { Compile } from 'typebox/compile';

import { createAccessStore } from '../../../http/access/store.ts';
import { engines, openTestDatabase } from '../../../testing/engines/test-database.ts';
import type { Db } from '../database.ts';
import { EnqueuedEvent } from '../webhook-outbox.ts';
import { webhookWork } from './015-webhook-work.ts';

const execute = async (db: Db, ...statements: string[]): Promise<void> => {
  for (const statement of statements) await sql.raw(statement).execute(db);
};

/** Restores the tables of the previous release. */
const goBack = (db: Db): Promise<void> =>
  execute(
    db,
    `update installation set needs = ''`,
    `create table webhook_outbox (id text primary key, type text not null, at bigint not null, data text not null,
      audience text not null)`,
    'alter table webhook_delivery add column claimed_until bigint',
    'alter table mail_use add column claimed_until bigint not null default 0',
  );

describe.each(engines)('what the release before has left for webhooks, in %s,', (engine) => {
  it('is work: each event, and each webhook with deliveries that wait', async () => {
    const db = await openTestDatabase(engine);
    await goBack(db);
    await createAccessStore(db).insertUser({ id: 'u', name: 'u', role: 'user', created_at: 0 });
    const event = {
      type: 'runs.none' as const,
      at: 1700000000000,
      data: { hours: 3, last_run_id: null, last_at: null },
      audience: { kind: 'user' as const, userId: 'it’s "u"' },
    };
    await sql`insert into webhook_outbox values
      ('e', ${event.type}, ${event.at}, ${JSON.stringify(event.data)}, ${JSON.stringify(event.audience)})`.execute(
      db,
    );
    await execute(
      db,
      ...['a', 'b'].map(
        (
          id,
        ) => `insert into webhook (id, user_id, name, url, events, outcomes, project_ids, not_ready_minutes, failing_percent,
          failing_hours, silent_hours, signature, sealed, paused, heard_since, created_at)
          values ('${id}', 'u', '', 'https://receiver.example/', '[]', '[]', '[]', 1, 1, 1, 1, 'v1', '', 0, 0, 0)`,
      ),
      ...[
        ['1', 'a', 'waiting', 20],
        ['2', 'a', 'waiting', 10],
        ['3', 'a', 'delivered', 5],
        ['4', 'b', 'failed', 5],
      ].map(
        ([
          id,
          webhook,
          status,
          due,
        ]) => `insert into webhook_delivery (id, webhook_id, user_id, type, at, data, audience, status, due_at, created_at,
          claimed_until) values ('${id}', '${webhook}', 'u', 'webhook.test', 0, '{}', '{}', '${status}', ${due}, 0, 7)`,
      ),
    );
    await webhookWork.up(db);
    const rows = await db.selectFrom('work').selectAll().orderBy('kind').execute();
    expect(rows).toMatchObject([
      { kind: 'send webhook messages', key: 'a', lane: 'u', due_at: 10, claimed_until: 0, payload: null },
      { kind: 'tell webhooks', key: 'e', lane: '', due_at: 0, claimed_until: 0 },
    ]);
    const payload: unknown = JSON.parse(rows[1]?.payload ?? '');
    expect(payload).toEqual(event);
    expect(Compile(EnqueuedEvent).Check(payload)).toBe(true);
    expect(await sql`select needs from installation`.execute(db)).toMatchObject({
      rows: [{ needs: '015-webhook-work' }],
    });
  });
});
