import { expect, it } from 'vitest';

import { createPartRedactor, createRedactor, maxSecretsOfProject } from './secrets.ts';

const redact = createRedactor(['hunter2-long', 'say "hi"']);

it.each([
  ['as it is', 'password hunter2-long!', 'password [secret]!'],
  ['within JSON', String.raw`{"a":"say \"hi\""}`, '{"a":"[secret]"}'],
  ['cut at a limit', 'tap "hunter2…', 'tap "[secret]…'],
  ['cut at a length', `${'x'.repeat(3995)}hunt`, `${'x'.repeat(3995)}[secret]`],
  ['whole before the cut', `hunter2-long…`, '[secret]…'],
])('a value is replaced: %s', (_, text, expected) => {
  expect(redact(text)).toBe(expected);
});

it('a text that was not cut keeps an end that a value begins with', () => {
  expect(redact('the hunt')).toBe('the hunt');
});

it('a text in parts loses the same values, wherever it is divided', () => {
  const values = ['hunter2-long', 'hunter2', 'a.b(c', '[x]'];
  const text = 'at hunter2-long, hunter2-lo, a.b(c, aXb(c, [x] and hunter';
  for (let first = 0; first <= text.length; first += 1)
    for (let second = first; second <= text.length; second += 1) {
      const part = createPartRedactor(values);
      const parts = [text.slice(0, first), text.slice(first, second), text.slice(second)];
      expect(parts.map((one, index) => part(one, index === 2)).join('')).toBe(
        'at [secret], [secret]-lo, [secret], aXb(c, [secret] and hunter',
      );
    }
});

it('the longest beginning of a value is found, also of one that repeats itself', () => {
  const texts = Array.from({ length: 64 }, (_, bits) => bits.toString(2).padStart(6, '0'));
  for (const value of texts)
    for (const text of texts.filter((one) => one !== value)) {
      const length = [5, 4, 3, 2].find((one) => text.endsWith(value.slice(0, one)));
      const shown = length === undefined ? text : `${text.slice(0, -length)}[secret]`;
      expect(createRedactor([value])(`${text}…`)).toBe(`${shown}…`);
    }
});

/** What compares all beginnings with it takes minutes. */
it('as many and long values as there may be, all nearly like the text, are looked for', () => {
  const values = Array.from({ length: maxSecretsOfProject }, (_, no) => `${'a'.repeat(8000)}"${no}`);
  const text = `${'a'.repeat(50_000)}c`;
  expect(createRedactor(values)(text)).toBe(text);
  expect(createPartRedactor(values)(text, true)).toBe(text);
});
