import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LogWindow, sizeOf } from './spooled-log.ts';

const step = fc.oneof(
  fc.record({ kind: fc.constant('push' as const), text: fc.string({ unit: 'grapheme' }) }),
  fc.record({ kind: fc.constant('trim' as const), share: fc.double({ min: 0, max: 1.2, noNaN: true }) }),
);

describe('the window of entries that are not stored yet', () => {
  it('numbers, holds and forgets as a plain list of everything would', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const window = new LogWindow();
        const all: string[] = [];
        let gone = 0;
        for (const one of steps) {
          if (one.kind === 'push') {
            window.push(one.text);
            all.push(one.text);
          } else {
            gone = Math.max(gone, Math.floor(all.length * Math.min(one.share, 1)));
            window.trim(gone);
          }
          const rest = all.slice(gone);
          expect(window.lastSeq).toBe(all.length);
          expect(window.sizeBytes).toBe(rest.reduce((sum, text) => sum + sizeOf(text), 0));
          expect(window.slice(gone + 1, 1_000_000)).toEqual(rest);
        }
      }),
    );
  });

  it('gives as many entries as fit into a frame, and at least one', () => {
    const window = new LogWindow();
    for (const text of ['aaaa', 'bbbb', 'cccccccccccc']) window.push(text);
    expect(window.slice(1, 8)).toEqual(['aaaa', 'bbbb']);
    expect(window.slice(1, 7)).toEqual(['aaaa']);
    expect(window.slice(3, 1)).toEqual(['cccccccccccc']);
    expect(window.slice(4, 1)).toEqual([]);
  });

  it('never gives more entries than a frame may hold', () => {
    const window = new LogWindow();
    for (let index = 0; index < 1500; index += 1) window.push('x');
    expect(window.slice(1, 1_000_000)).toHaveLength(1000);
    expect(window.slice(1001, 1_000_000)).toHaveLength(500);
  });

  it('moves its numbers on when more was stored than it ever held', () => {
    const window = new LogWindow();
    window.push('one');
    window.trim(10);
    expect(window.sizeBytes).toBe(0);
    window.push('eleven');
    expect(window.lastSeq).toBe(11);
    expect(window.slice(11, 100)).toEqual(['eleven']);
  });
});
