import { describe, expect, it } from 'vitest';

import { differenceOf, readableText } from './text-difference.ts';

describe('texts in errors', () => {
  it.each([
    ['Pay now', 'Pay now'],
    ['Pay\u00A0now', 'Pay[U+00A0]now'],
    ['Pay\u202Fnow', 'Pay[U+202F]now'],
    ['Pa\u00ADy', 'Pa[U+00AD]y'],
    ['\u2066Pay\u2069\uFEFF', '[U+2066]Pay[U+2069][U+FEFF]'],
    ['Home\nTab 1', String.raw`Home\nTab 1`],
    ['a\u0000b', 'a[U+0000]b'],
  ])('have the numbers of what is not seen: %j', (text, expected) => {
    expect(readableText(text)).toBe(expected);
  });

  it('leave what belongs to letters and emojis', () => {
    for (const text of ['می\u200Cخواهم', '👩\u200D👧', '❤\uFE0F', 'Café', '日本'])
      expect(readableText(text)).toBe(text);
  });
});

describe('the difference of a text', () => {
  it('names the letter that looks like another one', () => {
    expect(differenceOf('Pay', 'P\u0430y')).toBe(
      '"P\u0430y" has U+0430 as character 2 where U+0061 is looked for',
    );
    expect(differenceOf("Don't allow", 'Don’t allow')).toContain('has U+2019 as character 4 where U+0027 is');
    expect(differenceOf('Wait...', 'Wait…')).toContain('has U+2026 as character 5 where U+002E is');
    expect(differenceOf('1 - 2', '1 \u2013 2')).toContain('U+2013');
  });

  it('is not told where everybody sees it, or where the texts are others', () => {
    for (const text of ['Log in', 'login', 'Longer', 'Лонгл', 'Logon'])
      expect(differenceOf('Login', text)).toBeUndefined();
  });

  it('tells what keeps a regular expression from a text that looks like a match', () => {
    expect(differenceOf(/^Pay now$/, 'Pay\u00A0now')).toBe(
      '"Pay[U+00A0]now" looks like a match of /^Pay now$/, but it has U+00A0',
    );
    expect(differenceOf(/Café/, 'Cafe\u0301')).toContain('its letters are not composed');
    expect(differenceOf(/^Pay$/, 'Pay\u00A0now')).toBeUndefined();
    expect(differenceOf(/^Pay\snow$/g, 'Pay\u00A0now')).toBeUndefined();
  });
});
