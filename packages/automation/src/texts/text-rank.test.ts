import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { bestRank, bestRanked, createTextRank, textRanks } from './text-rank.ts';

describe('the rank of a text', () => {
  const rank = createTextRank('Home');

  it.each([
    ['Home', textRanks.equal],
    ['\u2066Home\u2069\u00A0', textRanks.equal],
    ['HOME', textRanks.equalInOtherCase],
    ['Home\nTab 1 of 3', textRanks.firstLine],
    ['\n Home\r\nTab 1 of 3', textRanks.firstLine],
    ['Home\u2028Tab 1 of 3', textRanks.firstLine],
    ['HOME\nTab 1 of 3', textRanks.firstLineInOtherCase],
    ['Tab 1 of 3\nhome', textRanks.otherLine],
    ['Homework', textRanks.part],
    ['Go home', textRanks.part],
    ['Homework\nTab 1 of 3', textRanks.part],
    ['Ho me', undefined],
    ['', undefined],
  ])('of %j for "Home" is %s', (text, expected) => {
    expect(rank(text)).toBe(expected);
  });

  it('is the same for a text of several lines with spaces in place of them', () => {
    expect(createTextRank('Home Tab 1 of 3')('Home\nTab 1 of 3')).toBe(textRanks.equal);
    expect(createTextRank('Home\nTab 1 of 3')('Home Tab 1 of 3')).toBe(textRanks.equal);
    expect(createTextRank('Home\nTab 1')('Home\nTab 1 of 3')).toBe(textRanks.part);
  });

  it('finds a text by what is shown of it', () => {
    expect(createTextRank('The quick brown…')('The quick brown fox')).toBe(textRanks.part);
    expect(createTextRank('Loading…')('Loading…')).toBe(textRanks.equal);
    expect(createTextRank('…')('The quick brown fox')).toBeUndefined();
    expect(createTextRank('brown…')('The quick brown fox')).toBeUndefined();
  });

  it('is none for what can not be seen', () => {
    for (const wanted of ['', ' ', '\u200B', '\u00A0\n'])
      for (const text of ['', ' ', 'a b']) expect(createTextRank(wanted)(text)).toBeUndefined();
  });

  it('is the best one of the texts of a node', () => {
    expect(bestRank(['Homework', 'home', 'x'], rank)).toBe(textRanks.equalInOtherCase);
    expect(bestRank(['x', 'Homework'], rank)).toBe(textRanks.part);
    expect(bestRank([], rank)).toBeUndefined();
    expect(bestRanked(['Homework', 'Home\n1', 'x', 'Home\n2'], rank)).toEqual(['Home\n1', 'Home\n2']);
  });

  it('is one for each text that has it, whatever invisible characters stand between', () => {
    const word = fc.stringMatching(/^[a-zé ]{1,20}$/).filter((text) => text.trim() !== '');
    const mark = fc.constantFrom('\u00AD', '\u200B', '\u200E', '\u2066', '\uFEFF', '');
    fc.assert(
      fc.property(word, word, mark, (wanted, other, one) => {
        const marked = wanted.split('').join(one);
        expect(createTextRank(wanted)(marked)).toBe(textRanks.equal);
        expect(createTextRank(marked)(`${other} ${wanted}`)).toBeDefined();
      }),
    );
  });
});
