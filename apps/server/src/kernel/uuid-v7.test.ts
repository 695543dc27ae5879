import fc from 'fast-check';
import { v4 as uuidv4, v7 as uuidv7 } from 'uuid';
import { describe, expect, it } from 'vitest';

import { IncreasingIds, isUuidV7, timeOfUuidV7 } from './uuid-v7.ts';

describe('a UUIDv7', () => {
  it('holds its time', () => {
    expect(timeOfUuidV7(uuidv7({ msecs: 1_790_000_000_123 }))).toBe(1_790_000_000_123);
  });

  it('is known in either letter case', () => {
    expect([isUuidV7(uuidv7()), isUuidV7(uuidv7().toUpperCase())]).toEqual([true, true]);
  });

  it.each([uuidv4(), '', `${uuidv7()}0`, ` ${uuidv7()}`, `{${uuidv7()}}`])('is not %s', (id) => {
    expect(isUuidV7(id)).toBe(false);
  });
});

/** Hours around a plausible time, so that steps back and equal times are frequent. */
const times = fc.array(fc.integer({ min: 1_800_000_000_000, max: 1_800_000_000_050 }), {
  minLength: 1,
  maxLength: 200,
});

describe('log IDs', () => {
  it('are UUIDv7s that increase strictly, whatever the clock does and across restarts', () => {
    fc.assert(
      fc.property(times, fc.nat({ max: 20 }), (clock, restartEvery) => {
        let ids = new IncreasingIds();
        let last = '';
        clock.forEach((now, at) => {
          if (restartEvery > 0 && at % restartEvery === restartEvery - 1 && last !== '') {
            ids = new IncreasingIds();
            ids.resumeAfter(last);
          }
          const id = ids.next(now);
          expect(id > last).toBe(true);
          expect(isUuidV7(id)).toBe(true);
          last = id;
        });
      }),
    );
  });

  it('carry the time at which they were given', () => {
    const id = new IncreasingIds().next(1_800_000_000_123);
    expect(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toBe(1_800_000_000_123);
  });

  it('of one millisecond stay strictly increasing beyond a hundred thousand', () => {
    const ids = new IncreasingIds();
    let last = ids.next(1_800_000_000_000);
    for (let at = 0; at < 200_000; at += 1) {
      const id = ids.next(1_800_000_000_000);
      if (id <= last) expect(id).toBe(`greater than ${last}`);
      last = id;
    }
    expect(isUuidV7(last)).toBe(true);
  });
});
