import { expect, it } from 'vitest';

import { valueColumns } from './value-columns.ts';

const table = (values: readonly unknown[]): Record<string, string[]> =>
  Object.fromEntries(
    valueColumns('Result', values).map(({ header, textOf }) => [
      header,
      values.map((value) => textOf(value)),
    ]),
  );

it('the keys of objects are columns in the order of their first appearance', () => {
  expect(table([{ name: 'Ada', n: 1 }, null, { n: [2], city: 'London' }])).toEqual({
    'Result: name': ['Ada', '', ''],
    'Result: n': ['1', '', '[2]'],
    'Result: city': ['', '', 'London'],
  });
});

it('what is no object stands in a column of its own as JSON', () => {
  expect(table([[1, 'a'], 'text', 5])).toEqual({ Result: ['[1,"a"]', 'text', '5'] });
  expect(table([{ n: 1 }, false])).toEqual({ 'Result: n': ['1', ''], Result: ['', 'false'] });
});

it('values that are not there have no column, and too many keys are one', () => {
  expect(table([null, undefined])).toEqual({});
  const wide = Object.fromEntries(Array.from({ length: 13 }, (_, at) => [`key${at}`, at]));
  expect(Object.keys(table([wide, { other: 1 }]))).toEqual(['Result']);
});
