import { describe, expect, it } from 'vitest';

import { protectionEnd } from './protection-end.ts';

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
