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

it('comes in a series that rises, of one time', () => {
  const series = new IncreasingIds();
  const ids = Array.from({ length: 1000 }, () => series.next(1_790_000_000_123));
  expect(ids).toEqual([...new Set(ids)].toSorted());
  expect(ids.every((id) => isUuidV7(id) && timeOfUuidV7(id) === 1_790_000_000_123)).toBe(true);
});
