import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { comparedText, seenText } from './seen-text.ts';

const codes = (list: string): string[] =>
  list.split(' ').map((code) => String.fromCodePoint(Number.parseInt(code, 16)));
/**
 * White space: Unicode separators, white space of HTML and Android's resources, and blanks that people use as names.
 */
const whites = codes(
  '9 A B C D 20 85 A0 1680 2000 2001 2002 2003 2004 2005 2006 2007 2008 2009 200A 2028 2029 202F 205F 3000 2800 3164 FFA0',
);
const invisibles = codes(
  'AD 34F 61C 180E 200B 200C 200D 200E 200F 202A 202B 202C 202D 202E 2060 2061 2066 2067 2068 2069 206A FE0E FE0F FEFF',
);
const named = (text: string): string => `U+${text.codePointAt(0)?.toString(16).toUpperCase()}`;

describe('a text as people see it', () => {
  it.each(whites.map((white) => [named(white), white]))(
    'has one space for any white space: %s',
    (_, white) => {
      expect(seenText(`${white}Pay${white}${white}now${white}`)).toBe('Pay now');
    },
  );

  it.each(invisibles.map((mark) => [named(mark), mark]))('has no invisible character: %s', (_, mark) => {
    expect(seenText(`${mark}Pa${mark}y now${mark}`)).toBe('Pay now');
    expect(seenText(`Pay ${mark} now`)).toBe('Pay now');
  });

  it('has composed letters, also where something invisible stood between letter and mark', () => {
    expect(seenText('Cafe\u0301')).toBe('Café');
    expect(seenText('Cafe\u200B\u0301')).toBe('Café');
    expect(seenText('\u1112\u1161\u11AB')).toBe('한');
  });

  it('keeps what can be told apart', () => {
    const flags = ['🏴󠁧󠁢󠁥󠁮󠁧󠁿', '🏴󠁧󠁢󠁳󠁣󠁴󠁿'].map(seenText);
    expect(new Set(flags).size).toBe(2);
    for (const text of ['Pay now', 'Ｐａｙ', 'x²', '…', 'a-b', '“a”']) expect(seenText(text)).toBe(text);
  });

  it('is seen the same when it is looked at again', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 20 }), (text) => {
        const seen = seenText(text);
        expect(seenText(seen)).toBe(seen);
        expect(comparedText(comparedText(text))).toBe(comparedText(text));
        expect(comparedText(seen)).toBe(comparedText(text));
      }),
    );
  });

  it.each([
    ['marks on one letter', `a${'\u0301'.repeat(50_000)}${'\u0323'.repeat(50_000)}`],
    ['white space', `${' \u00A0'.repeat(50_000)}a`],
    ['invisible characters', `a${'\u200B\u00AD'.repeat(50_000)}`],
    ['letters that grow', 'ŉΐﬃ'.repeat(30_000)],
  ])('takes no longer for hostile texts: %s', (_, text) => {
    expect(comparedText(text).length).toBeLessThan(3 * text.length);
  });
});

describe('texts in one letter case', () => {
  it.each([
    ['STRASSE', 'Straße'],
    ['STRAẞE', 'strasse'],
    ['ΟΔΟΣ', 'οδος'],
    ['İPTAL', 'iptal'],
    ['AÇIK', 'açık'],
    ['ÉCOLE', 'e\u0301cole'],
  ])('are equal: %s, %s', (one, other) => {
    expect(comparedText(one)).toBe(comparedText(other));
  });

  it('is in a longer one although sigma has another form there', () => {
    expect(comparedText('ΟΔΟΣΑ')).toContain(comparedText('ΟΔΟΣ'));
  });
});
