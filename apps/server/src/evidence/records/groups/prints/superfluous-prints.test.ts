import { describe, expect, it } from 'vitest';

import { type KeptSample, findSuperfluous } from './superfluous-prints.ts';

interface Named extends KeptSample {
  name: string;
}

function sample(
  name: string,
  [language, appVersion, addedAt]: [string, string, number],
  ...words: string[]
): Named {
  const weights = new Map(words.map((word) => [word, 1]));
  const print = {
    key: name,
    packageName: 'com.shop',
    ids: new Set<string>(),
    features: weights,
    words: weights,
    isDialog: false,
  };
  return { name, language, appVersion, addedAt, print };
}

const found = (...samples: Named[]): string | undefined => findSuperfluous(samples)?.name;

describe('the screen that a group misses least', () => {
  it('is the older one of the two that are most alike', () => {
    const old = sample('old', ['de', '1', 1], 'a', 'b', 'c');
    const alike = sample('alike', ['de', '1', 2], 'a', 'b', 'd');
    const other = sample('other', ['de', '1', 0], 'x', 'y', 'z');
    expect(found(old, alike, other)).toBe('old');
    expect(found(alike, other, old)).toBe('old');
  });

  it('is none of a language or version that no other screen has', () => {
    const same = [sample('one', ['de', '1', 1], 'a', 'b'), sample('two', ['de', '1', 2], 'x', 'y')];
    const twins = [sample('version', ['de', '2', 0], 'a', 'b'), sample('language', ['en', '1', 0], 'a', 'b')];
    expect(found(...same, ...twins)).toBe('one');
  });

  it('is of an older version where each screen has a version of its own', () => {
    const older = sample('older', ['de', '1', 1], 'a', 'b');
    const newer = sample('newer', ['de', '2', 2], 'a', 'b');
    const foreign = sample('foreign', ['en', '1', 0], 'a', 'b');
    expect(found(older, newer, foreign)).toBe('older');
  });

  it('is the oldest of all where nothing else tells them apart', () => {
    const languages = ['de', 'en', 'ja'].map((one, index) => sample(one, [one, '1', index], 'a'));
    expect(found(...languages)).toBe('de');
    expect(found()).toBeUndefined();
  });
});
