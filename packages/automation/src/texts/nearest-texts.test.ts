import fc from 'fast-check';
import { expect, it } from 'vitest';

import { comparedText } from './seen-text.ts';
import { nearestOf } from './nearest-texts.ts';

it('puts an equal text first, in any letter case, and gives each text once', () => {
  const word = fc.stringMatching(/^[a-z ]{1,30}$/);
  fc.assert(
    fc.property(fc.array(word, { maxLength: 20 }), word, (texts, wanted) => {
      const nearest = nearestOf([...texts, wanted.toUpperCase()], wanted);
      expect(comparedText(nearest[0] ?? '')).toBe(comparedText(wanted));
      expect(new Set(nearest).size).toBe(nearest.length);
      expect(nearest.length).toBeLessThanOrEqual(8);
    }),
  );
});

it('keeps the order of the screen when nothing is wanted', () => {
  expect(nearestOf(['b', 'a', 'b', 'c'])).toEqual(['b', 'a', 'c']);
});
