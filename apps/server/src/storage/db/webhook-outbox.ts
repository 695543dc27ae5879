import { type ChosenEvent, JsonObject, type WebhookData, webhookEventNames } from '@phalanx/protocol';
import { type Static, Type } from 'typebox';
import { v7 as uuidv7 } from 'uuid';
import type { Transaction } from './tables/tables.ts';
import { enqueue } from './work-queue.ts';

const text = Type.String();

/** Facts that decide who may receive an event. */
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

/** Payload of the work of an event, which waits in the queue until the webhooks that send it are determined. */
export const EnqueuedEvent = Type.Object({
  type: Type.Enum(webhookEventNames),
  at: Type.Number(),
  data: JsonObject,
  audience: Audience,
});

/** Enqueues events for webhooks, in the transaction that causes them. Enqueues nothing when no webhook listens. */
export async function addToOutbox<Name extends ChosenEvent>(
  transaction: Transaction,
  type: Name,
  events: readonly OutboxEvent<Name>[],
): Promise<void> {
  if (events.length === 0) return;
  const listening = transaction
    .selectFrom('webhook')
    .select('id')
    .where('paused', '=', 0)
    .where('events', 'like', `%"${type}"%`)
    .limit(1);
  if ((await listening.executeTakeFirst()) === undefined) return;
  const items = events.map(({ at, data, audience }) => {
    const payload: Static<typeof EnqueuedEvent> = { type, at, data, audience };
    return { key: uuidv7(), payload: JSON.stringify(payload) };
  });
  await enqueue(transaction, 'tell webhooks', items);
}
