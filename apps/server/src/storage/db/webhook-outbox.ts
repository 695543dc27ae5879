import type { ChosenEvent, WebhookData } from '@phalanx/protocol';
import { sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { v7 as uuidv7 } from 'uuid';
import { rowsAs } from './dialect.ts';
import type { Transaction } from './tables/tables.ts';

const text = Type.String();

/** Facts that decide who may hear of an event. */
export const Audience = Type.Union([
  Type.Object({
    kind: Type.Literal('run'),
    userId: text,
    deviceId: text,
    automationId: text,
    isDirect: Type.Boolean(),
  }),
  Type.Object({
    kind: Type.Literal('record'),
    ownerId: text,
    automationId: text,
    isDirect: Type.Boolean(),
  }),
  Type.Object({ kind: Type.Literal('schedule'), userId: text, automationId: text }),
  Type.Object({ kind: Type.Literal('device'), deviceId: text }),
  Type.Object({ kind: Type.Literal('user'), userId: text }),
]);
export type Audience = Static<typeof Audience>;

export interface OutboxEvent<Name extends ChosenEvent> {
  /** Epoch ms. */
  readonly at: number;
  readonly data: WebhookData<Name>;
  readonly audience: Audience;
}

const columns = { id: 'text', at: 'bigint', data: 'text', audience: 'text' } as const;

/** Stores events for webhooks, in the transaction of what happens. Stores nothing when no webhook listens. */
export async function addToOutbox<Name extends ChosenEvent>(
  transaction: Transaction,
  type: Name,
  events: readonly OutboxEvent<Name>[],
): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map(({ at, data, audience }) => ({
    id: uuidv7(),
    at,
    data: JSON.stringify(data),
    audience: JSON.stringify(audience),
  }));
  await sql`INSERT INTO webhook_outbox (id, type, at, data, audience)
    SELECT id, ${type}, at, data, audience FROM ${rowsAs(transaction, 'told', columns, rows)}
    WHERE EXISTS (SELECT 1 FROM webhook WHERE paused = 0 AND events LIKE ${`%"${type}"%`})`.execute(
    transaction,
  );
}
