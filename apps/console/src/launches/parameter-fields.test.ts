import { expect, it } from 'vitest';

import { fieldsOf, problemsOf } from './parameter-fields.ts';

const fields =
  fieldsOf(
    JSON.stringify({
      properties: {
        name: { type: 'string' },
        tries: { type: 'integer' },
        price: { type: 'number' },
        isNew: { type: 'boolean' },
      },
      required: ['name', 'isNew'],
    }),
  ) ?? [];
const problems = (values: Record<string, unknown>): [string, string][] => [...problemsOf(fields, values)];

it('names the fields that are required and empty', () => {
  expect(problems({})).toEqual([['name', 'This is required.']]);
  expect(problems({ name: '' })).toEqual([['name', 'This is required.']]);
  expect(problems({ name: 'Ada' })).toEqual([]);
});

it('names numbers that are none', () => {
  expect(problems({ name: 'Ada', tries: 2.5, price: 'x' })).toEqual([
    ['tries', 'This has to be a whole number.'],
    ['price', 'This has to be a number.'],
  ]);
  expect(problems({ name: 'Ada', tries: 2, price: 2.5 })).toEqual([]);
});
