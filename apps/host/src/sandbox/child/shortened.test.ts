import { expect, it } from 'vitest';

import { shortened } from './shortened.ts';

it.each([
  ['abc', 3, 'abc'],
  ['abcd', 3, 'abc'],
  ['ab😀', 4, 'ab😀'],
  ['ab😀c', 3, 'ab'],
  ['a\ud83d', 2, 'a\ufffd'],
  ['\ude00ab', 2, '\ufffda'],
])('%j in %i units is %j', (text, maxLength, expected) => {
  expect(shortened(text, maxLength)).toBe(expected);
});
