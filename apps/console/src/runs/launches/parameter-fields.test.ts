import { expect, it } from 'vitest';

import { fieldsOf, problemsOf, refusalsOf, typedValue } from './parameter-fields.ts';

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
    ['tries', 'This must be a whole number.'],
    ['price', 'This must be a number.'],
  ]);
  expect(problems({ name: 'Ada', tries: 2, price: 2.5 })).toEqual([]);
});

const ruled =
  fieldsOf(
    JSON.stringify({
      properties: {
        mail: { type: 'string', format: 'email' },
        day: { type: 'string', format: 'date' },
        name: { type: 'string', minLength: 2, maxLength: 4 },
        count: { type: 'integer', minimum: 1, exclusiveMaximum: 10 },
        size: { enum: [1, 2, 'many'] },
        tags: { type: 'array', items: { type: 'string' }, minItems: 2 },
        ports: { type: 'array', items: { type: 'integer', maximum: 65535 } },
        tree: { type: 'array', items: { type: 'object' } },
        odd: { enum: [1, '1'] },
      },
    }),
  ) ?? [];

it('has a kind for simple values and lists of them, and JSON for the rest', () => {
  expect(Object.fromEntries(ruled.map(({ name, kind }) => [name, kind]))).toEqual({
    mail: 'text',
    day: 'text',
    name: 'text',
    count: 'integer',
    size: 'choice',
    tags: 'list',
    ports: 'list',
    tree: 'json',
    odd: 'json',
  });
});

it('names what does not follow the rules of the schema', () => {
  const right = {
    mail: 'a@b.c',
    day: '2030-01-31',
    name: 'Ada',
    count: 9,
    size: 2,
    tags: ['a', 'b'],
    ports: [80],
  };
  expect([...problemsOf(ruled, right)]).toEqual([]);
  const wrong = {
    mail: 'a',
    day: '31.1.',
    name: 'A',
    count: 10,
    size: 3,
    tags: ['a'],
    ports: [80, 'x', 70000],
  };
  expect(Object.fromEntries(problemsOf(ruled, wrong))).toEqual({
    mail: 'This must be an e-mail address, such as ada@example.com.',
    day: 'This must be a date, such as 2030-01-31.',
    name: 'At least 2 characters are needed.',
    count: 'This must be less than 10.',
    size: 'This must be one of 1, 2, many.',
    tags: 'At least 2 values are needed.',
    ports: 'Line 2: This must be a number.',
  });
  expect([...problemsOf(ruled, { count: Number.NaN, name: 'Adaaa' })]).toEqual([
    ['name', 'At most 4 characters are allowed.'],
    ['count', 'This must be a number.'],
  ]);
});

it('reads what is typed as the kind of its value', () => {
  const rules = (name: string) => ruled.find((field) => field.name === name)?.rules;
  const typed = (name: string, text: string) => {
    const known = rules(name);
    return known === undefined ? undefined : typedValue(known, text);
  };
  expect([typed('count', '7'), typed('count', 'x'), typed('name', '7')]).toEqual([7, 'x', '7']);
  expect([typed('size', '2'), typed('size', 'many')]).toEqual([2, 'many']);
});

it('finds the fields in what the service has refused', () => {
  const message =
    'The parameters do not fit parameters.schema.json of the project: automationParameters.name must match pattern "^x"; automationParameters.tags.0 must be string.';
  expect(Object.fromEntries(refusalsOf(ruled, message))).toEqual({
    name: 'This must match pattern "^x".',
    tags: 'Line 1 must be string.',
  });
});
