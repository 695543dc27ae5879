import { beforeEach, describe, expect, it } from 'vitest';

import type { StoredBatch } from '../log-batch.ts';
import { RecentBatches } from './recent-batches.ts';

const stream = { deviceId: 'phone', automationId: 'automation' };
const idOf = (no: number): string => String(no).padStart(8, '0');

/** Creates the batches with the IDs after `from`, up to `to`. */
const batches = (from: number, to: number, bytes = 10): StoredBatch[] =>
  Array.from({ length: to - from }, (_, at) => ({
    first_id: idOf(from + at + 1),
    last_id: idOf(from + at + 1),
    oldest: 0,
    count: 1,
    entries: Buffer.alloc(bytes),
  }));

describe('batches that were read lately', () => {
  let recent: RecentBatches;
  beforeEach(() => {
    recent = new RecentBatches();
  });

  const find = (from: string, of = stream) => {
    const { batches: found, upTo } = recent.find(of, from);
    return { ids: found.map((batch) => Number(batch.last_id)), upTo };
  };

  it('are given to who asks from where they begin, or later, and the database for what comes after them', () => {
    recent.add(stream, '', batches(0, 3));
    expect(find('')).toEqual({ ids: [1, 2, 3], upTo: idOf(3) });
    expect(find(idOf(2))).toEqual({ ids: [3], upTo: idOf(3) });
    expect(find(idOf(3))).toEqual({ ids: [], upTo: idOf(3) });
    expect(find(idOf(9))).toEqual({ ids: [], upTo: idOf(9) });
    expect(find('', { ...stream, deviceId: 'other' })).toEqual({ ids: [], upTo: '' });
  });

  it('have no gap: who asks from before it asks the database for everything', () => {
    recent.add(stream, idOf(5), batches(5, 8));
    expect(find('')).toEqual({ ids: [], upTo: '' });
    recent.add(stream, idOf(10), batches(10, 12));
    expect(find(idOf(5))).toEqual({ ids: [], upTo: idOf(5) });
    expect(find(idOf(10))).toEqual({ ids: [11, 12], upTo: idOf(12) });
  });

  it('are there once when two have read the same', () => {
    recent.add(stream, '', batches(0, 3));
    recent.add(stream, idOf(1), batches(1, 5));
    recent.add(stream, '', batches(0, 2));
    expect(find('')).toEqual({ ids: [1, 2, 3, 4, 5], upTo: idOf(5) });
  });

  it('are the newest ones of a long log, also while somebody reads it from its beginning', () => {
    const half = 400 * 1024;
    recent.add(stream, '', batches(0, 3, half));
    expect(find(idOf(1)).ids).toEqual([2, 3]);
    expect(find('')).toEqual({ ids: [], upTo: '' });
    recent.add(stream, '', batches(0, 1, half));
    expect(find(idOf(1)).ids).toEqual([2, 3]);
    recent.add(stream, idOf(3), batches(3, 4, 2 * 1024 * 1024));
    expect(find(idOf(3))).toEqual({ ids: [], upTo: idOf(3) });
  });

  it('of very many streams are those that were read last', () => {
    const streamOf = (no: number) => ({ ...stream, deviceId: `${no}` });
    for (let no = 0; no < 100; no += 1) recent.add(streamOf(no), '', batches(0, 1, 1_000_000));
    const known = Array.from({ length: 100 }, (_, no) => find('', streamOf(no)).ids.length);
    expect(known.indexOf(1)).toBeGreaterThan(60);
    expect(known.slice(known.indexOf(1))).not.toContain(0);
  });
});
