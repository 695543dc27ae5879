import { describe, expect, it } from 'vitest';

import { chooseCoding } from './codings.ts';

describe('the coding of a reply', () => {
  it.each([
    ['gzip, deflate, br', 'br'],
    ['GZIP;q=0.5', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['gzip;q=0.0', undefined],
    ['identity', undefined],
    ['', undefined],
  ])('for Accept-Encoding "%s" is %s', (header, coding) => {
    expect(chooseCoding(header)).toBe(coding);
  });
});
