import { expect, it } from 'vitest';
import { csvLine } from './csv.ts';

it.each([
  ["=cmd|'/c calc'!A1", "'=cmd|'/c calc'!A1"],
  ['+1+1', "'+1+1"],
  ['-2+3', "'-2+3"],
  ['@SUM(1)', "'@SUM(1)"],
  ['\t=1', "'\t=1"],
  ['\r=1', '"\'\r=1"'],
  ['=HYPERLINK("a","b")', '"\'=HYPERLINK(""a"",""b"")"'],
])('a text that begins as a formula is a text in spreadsheets: %j', (text, cell) => {
  expect(csvLine([text])).toBe(`${cell}\r\n`);
});

it('numbers and other texts stay as they are', () => {
  expect(csvLine([-1, '-12.5', '+49170', 'a=b', '', null, { a: '=1' }])).toBe(
    '-1,-12.5,+49170,a=b,,,"{""a"":""=1""}"\r\n',
  );
});
