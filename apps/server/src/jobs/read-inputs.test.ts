import { expect, it } from 'vitest';

import { readInputs } from './read-inputs.ts';

it('a table is CSV with names in its first line, or JSON lines', () => {
  expect(readInputs('\uFEFFname,note\r\nAda,"a, ""b""\nc"\r\nBen,\r\n')).toEqual([
    { name: 'Ada', note: 'a, "b"\nc' },
    { name: 'Ben', note: '' },
  ]);
  expect(readInputs('one\n1\n\n2')).toEqual([{ one: '1' }, { one: '2' }]);
  expect(readInputs('{"n":1}\n\n{"n":[2]}\n')).toEqual([{ n: 1 }, { n: [2] }]);
});

it.each([
  ['', 'has no rows'],
  ['name', 'has no rows'],
  ['a,a\n1,2', 'twice there: "a"'],
  ['a,b\n1', 'has 1 values in row 1'],
  ['a\n"open', 'not closed'],
  ['a\n"x"y', 'near character 3'],
  ['{"a":1}\n[2]', 'no JSON object in line 2'],
  ['{"a":1}\n{', 'no JSON object in line 2'],
])('%j is refused with the place', (text, said) => {
  expect(() => readInputs(text)).toThrow(said);
});

it('a large table is read in a moment, and one that is too large is refused', () => {
  const row = `${'x'.repeat(40)},"${'""'.repeat(20)}"\n`;
  expect(readInputs(`a,b\n${row.repeat(10_000)}`)).toHaveLength(10_000);
  expect(() => readInputs(`a,b\n${row.repeat(10_001)}`)).toThrow('at most 10000');
});
