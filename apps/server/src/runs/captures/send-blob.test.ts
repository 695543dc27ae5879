import { describe, expect, it } from 'vitest';

import { parseRange } from './send-blob.ts';

describe('a Range header for 1,000 bytes', () => {
  it.each<[string | undefined, ReturnType<typeof parseRange>]>([
    [undefined, 'whole'],
    ['bytes=0-0', { first: 0, last: 0 }],
    ['bytes=0-999', { first: 0, last: 999 }],
    ['bytes=0-5000', { first: 0, last: 999 }],
    ['bytes=990-', { first: 990, last: 999 }],
    ['bytes=-10', { first: 990, last: 999 }],
    ['bytes=-5000', { first: 0, last: 999 }],
    ['bytes=1000-', 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    ['bytes=5-4', 'whole'],
    ['bytes=0-1,5-6', 'whole'],
    ['bytes=-', 'whole'],
    ['lines=1-2', 'whole'],
    ['bytes=99999999999999999999-', 'whole'],
  ])('%s', (header, expected) => {
    expect(parseRange(header, 1000)).toEqual(expected);
  });

  it('has nothing to give of an empty capture', () => {
    expect(parseRange('bytes=0-', 0)).toBe('unsatisfiable');
    expect(parseRange('bytes=-1', 0)).toBe('unsatisfiable');
  });
});
