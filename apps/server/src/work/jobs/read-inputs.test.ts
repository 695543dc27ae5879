import { expect, it } from 'vitest';
import { turnsOfOthers } from '../../kernel/limits/testing/turns-of-others.ts';
import { readInputs } from './read-inputs.ts';

it('a table is CSV with names in its first line, or JSON lines', async () => {
  expect(await readInputs('\uFEFFname,note\r\nAda,"a, ""b""\nc"\r\nBen,\r\n')).toEqual([
    { name: 'Ada', note: 'a, "b"\nc' },
    { name: 'Ben', note: '' },
  ]);
  expect(await readInputs('one\n1\n\n2')).toEqual([{ one: '1' }, { one: '2' }]);
  expect(await readInputs('{"n":1}\n\n{"n":[2]}\n')).toEqual([{ n: 1 }, { n: [2] }]);
});

it('semicolons and tabs stand between the values when the line of names has no comma', async () => {
  expect(await readInputs('n;name\r\n1;"Ada; L, 1,5"\r\n2;Ben, Carl\r\n')).toEqual([
    { n: '1', name: 'Ada; L, 1,5' },
    { n: '2', name: 'Ben, Carl' },
  ]);
  expect(await readInputs('n\tname\n1\tAda')).toEqual([{ n: '1', name: 'Ada' }]);
  expect(await readInputs('"a,b";c\n1;2')).toEqual([{ 'a,b': '1', c: '2' }]);
  expect(await readInputs('a,"b;c"\n1,2;3')).toEqual([{ a: '1', 'b;c': '2;3' }]);
});

it.each([
  ['', 'it is empty'],
  [' \n\n', 'it is empty'],
  ['PK\u0003\u0004\0\0', 'it is not UTF-8 text'],
  ['name\nM\uFFFDller', 'it is not UTF-8 text'],
  ['name', 'no rows below it'],
  ['a,a\n1,2', 'a column name that is empty or repeated: "a"'],
  ['a,b\n1,2\n\n1', 'has 1 value in row 4, and 2 column names'],
  ['a;b\n1,2', 'has 1 value in row 2, and 2 column names'],
  ['a\n"open', 'not closed, or text beside one, in row 2'],
  ['a\n"x"y', 'in row 2'],
  ['a\n"x\ny"\nx"y', 'in row 3'],
  ['{"a":1}\n[2]', 'no JSON object in line 2'],
  ['{"a":1}\n{', 'no JSON object in line 2'],
])('%j is refused with the place', async (text, said) => {
  await expect(readInputs(text)).rejects.toThrow(said);
});

it('a large table is read in a moment, and one that is too large is refused', async () => {
  const row = `${'x'.repeat(40)},"${'""'.repeat(20)}"\n`;
  expect(await readInputs(`a,b\n${row.repeat(10_000)}`)).toHaveLength(10_000);
  await expect(readInputs(`a,b\n${row.repeat(10_001)}`)).rejects.toThrow('more than 10000 rows');
});

it.each([
  [
    'half a million names of columns',
    Array.from({ length: 500_000 }, (_, at) => `c${at}`).join(','),
    'columns',
  ],
  ['a value of megabytes', `a\n${'x'.repeat(5_000_000)}`, 'more than 65536 characters'],
  ['a quoted value of megabytes', `a\n"${'""'.repeat(2_500_000)}"`, 'more than 65536 characters'],
  ['a value that is never closed', `a\n"${'x'.repeat(5_000_000)}`, 'not closed'],
  ['JSON that is nested deeply', `{"a":${'['.repeat(2_500_000)}`, 'nested more than 64 levels'],
  ['JSON of small values', `{"a":[${'0,'.repeat(2_500_000)}0]}`, 'more than 200000 values'],
])('%s are refused at once', async (_, text, said) => {
  await expect(readInputs(text)).rejects.toThrow(said);
});

it.each([
  ['rows', `a,b,c,d,e,f,g,h,i,j\n${'1,2,3,4,5,6,7,8,9,"x"\n'.repeat(10_000)}`],
  ['empty lines', `a\n${'\n'.repeat(100_000)}1`],
  ['empty lines between JSON', `{"a":1}\n${'\n'.repeat(100_000)}`],
])('lets others have their turn while it reads %s', async (_, text) => {
  expect(await turnsOfOthers(() => readInputs(text))).toBeGreaterThan(2);
});
