import { v4 as uuidv4, v7 as uuidv7 } from 'uuid';
import { describe, expect, it } from 'vitest';

import { protectionEnd, timeOfUuidV7 } from './record-times.ts';

describe('the time of a record', () => {
  it('is in its UUIDv7', () => {
    expect(timeOfUuidV7(uuidv7({ msecs: 1_790_000_000_123 }))).toBe(1_790_000_000_123);
  });

  it.each([uuidv4(), '', uuidv7().toUpperCase(), `${uuidv7()}0`, uuidv7().replace(/-7/, '-8')])(
    'is not found in %s',
    (id) => {
      expect(timeOfUuidV7(id)).toBeUndefined();
    },
  );
});

describe('the protection of a saved record', () => {
  it.each([
    ['2026-01-15T10:00:00.000Z', '2026-03-15T10:00:00.000Z'],
    ['2026-12-31T23:59:59.999Z', '2027-02-28T23:59:59.999Z'],
    ['2027-12-30T00:00:00.000Z', '2028-02-29T00:00:00.000Z'],
    ['2026-07-31T00:00:00.000Z', '2026-09-30T00:00:00.000Z'],
    ['2026-11-01T12:00:00.000Z', '2027-01-01T12:00:00.000Z'],
  ])('of %s ends at %s', (added, end) => {
    expect(new Date(protectionEnd(Date.parse(added))).toISOString()).toBe(end);
  });
});
