import { expect, it } from 'vitest';

import { createRedactor } from './secrets.ts';

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
