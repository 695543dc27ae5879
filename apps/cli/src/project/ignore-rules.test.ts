import { expect, test } from 'vitest';

import { parseIgnoreRules } from './ignore-rules.ts';

const cases: [rules: string, ignored: string[], kept: string[]][] = [
  [
    '',
    ['.git/', 'a/.git/', 'node_modules/', 'x/node_modules/', '.phalanx/'],
    ['.gitignore', 'git/', 'main.ts'],
  ],
  ['*.log', ['a.log', 'x/y/b.log', '.log'], ['log', 'a.log.ts']],
  ['build', ['build', 'build/', 'x/build/'], ['builds', 'rebuild']],
  ['build/', ['build/', 'x/build/'], ['build']],
  ['/top', ['top', 'top/'], ['x/top']],
  ['docs/*.md', ['docs/a.md'], ['docs/x/a.md', 'x/docs/a.md']],
  ['a/**/z', ['a/z', 'a/b/z', 'a/b/c/z'], ['a/b', 'b/a/z']],
  ['**/tmp', ['tmp', 'x/tmp'], ['tmps']],
  ['file?.ts', ['file1.ts'], ['file.ts', 'file12.ts']],
  ['# comment\n\n  \n\\#file', ['#file'], ['# comment', 'comment']],
  ['*.txt\n!keep.txt', ['a.txt'], ['keep.txt', 'x/keep.txt']],
  ['*.txt\r\n*.md  ', ['a.txt', 'a.md'], ['a']],
];

test.each(cases)('the rules %j', (rules, ignored, kept) => {
  const isIgnored = parseIgnoreRules(rules);
  const answer = (path: string): boolean => isIgnored(path.replace(/\/$/, ''), path.endsWith('/'));
  expect(ignored.filter((path) => !answer(path))).toEqual([]);
  expect(kept.filter(answer)).toEqual([]);
});

test('a pattern that tries every way to fit is answered at once', () => {
  const isIgnored = parseIgnoreRules(`${'*a'.repeat(60)}b\n${'**/a/'.repeat(60)}b`);
  expect(isIgnored('a'.repeat(250), false)).toBe(false);
  expect(isIgnored(`${'a/'.repeat(200)}c`, false)).toBe(false);
});
