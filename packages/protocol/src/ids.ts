import { Type, type Static } from 'typebox';

/** A UUID of any version, in either letter case (RFC 9562). */
export const Uuid = Type.String({
  pattern: '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$',
  description: 'UUID',
  examples: ['01a1ff14-6b1c-7c33-9d1a-0f2a6a3c5e77'],
});

/** An ID that the service gave: opaque, and never empty. */
export const Id = Type.String({
  minLength: 1,
  maxLength: 200,
  examples: ['01a1ff14-6b1c-7c33-9d1a-0f2a6a3c5e77'],
});

/** The last moment that a `Date` can name. */
const maxTimeMs = 8.64e15;

/** Milliseconds since the Unix epoch. */
export const EpochMs = Type.Integer({
  minimum: 0,
  maximum: maxTimeMs,
  description: 'Milliseconds since the Unix epoch',
  examples: [1_795_281_326_000],
});

/** A time in a request: epoch milliseconds, or ISO 8601 with a zone (`2030-01-31T12:00:00Z`); a date is its midnight in UTC. */
export const TimeInput = Type.Union([EpochMs, Type.String({ maxLength: 40, description: 'ISO 8601' })], {
  description: 'Milliseconds since the Unix epoch, or ISO 8601 with a zone',
});
export type TimeInput = Static<typeof TimeInput>;
