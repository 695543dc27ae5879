import { Type, type Static } from 'typebox';

/** UUID of any version, in either letter case (RFC 9562). */
export const Uuid = Type.String({
  pattern: '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$',
  description: 'UUID',
  examples: ['01a1ff14-6b1c-7c33-9d1a-0f2a6a3c5e77'],
});

/** ID that the service has assigned: opaque, and never empty. */
export const Id = Type.String({
  minLength: 1,
  maxLength: 200,
  examples: ['01a1ff14-6b1c-7c33-9d1a-0f2a6a3c5e77'],
});

/** Last moment that a `Date` can represent. */
const maxTimeMs = 8.64e15;

/** Milliseconds since the Unix epoch. */
export const EpochMs = Type.Integer({
  minimum: 0,
  maximum: maxTimeMs,
  description: 'Milliseconds since the Unix epoch',
  examples: [1_795_281_326_000],
});

/**
 * Time in a request: epoch milliseconds, or ISO 8601 with a zone (`2030-01-31T12:00:00Z`). A date means midnight in
 * UTC.
 */
export const TimeInput = Type.Union([EpochMs, Type.String({ maxLength: 40, description: 'ISO 8601' })], {
  description: 'Milliseconds since the Unix epoch, or ISO 8601 with a zone',
});
export type TimeInput = Static<typeof TimeInput>;
