import { openConfinement } from '@phalanx/confinement';
import { afterAll, describe, expect, test } from 'vitest';

import { parseLimits } from '../../../kernel/limits/limit-settings.ts';
import { Limits } from '../../../kernel/limits/limits.ts';
import { ParameterChecker } from './parameter-checker.ts';

const turns = new Limits(parseLimits({})).turns.parameters;
const checker = new ParameterChecker({ turns, confinement: await openConfinement() });
afterAll(() => checker.close());

const schema = JSON.stringify({
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 1 },
    retries: { type: 'integer', minimum: 0, default: 3 },
    tags: { type: 'array', items: { type: 'string' } },
  },
  required: ['name'],
  additionalProperties: false,
});

describe('parameters that fit', () => {
  test('come back with the defaults of the schema filled in', async () => {
    expect(await checker.check(schema, { name: 'a' }, 'user')).toEqual({ name: 'a', retries: 3 });
  });

  test('are not changed where they are given, nor coerced', async () => {
    const given = { name: 'a', retries: 0, tags: ['x'] };
    expect(await checker.check(schema, given, 'user')).toEqual(given);
  });
});

test.each([
  [{}, "automationParameters must have required property 'name'"],
  [{ name: '' }, 'automationParameters.name must NOT have fewer than 1 characters'],
  [{ name: 'a', retries: '3' }, 'automationParameters.retries must be integer'],
  [{ name: 'a', tags: [1] }, 'automationParameters.tags.0 must be string'],
  [{ name: 'a', other: 1 }, 'automationParameters must NOT have additional properties ("other")'],
])('%j is refused with the reason', async (parameters, reason) => {
  await expect(checker.check(schema, parameters, 'user')).rejects.toMatchObject({
    code: 'invalid_parameters',
    message: expect.stringContaining(reason),
  });
});

test.each(['{', 'null', '[]x', '{"type": "nonsense"}', '{"$ref": "https://example.com/schema.json"}'])(
  'the schema %s is refused',
  async (text) => {
    await expect(checker.check(text, {}, 'user')).rejects.toMatchObject({ code: 'invalid_parameter_schema' });
  },
);

test('true allows everything, false nothing', async () => {
  expect(await checker.check('true', { any: 1 }, 'user')).toEqual({ any: 1 });
  await expect(checker.check('false', {}, 'user')).rejects.toMatchObject({ code: 'invalid_parameters' });
});

test('a tree may refer to itself; a circle of nothing but references is said to be one', async () => {
  const tree = JSON.stringify({ properties: { left: { $ref: '#' }, n: { type: 'integer' } } });
  expect(await checker.check(tree, { left: { n: 1 } }, 'user')).toEqual({ left: { n: 1 } });
  await expect(checker.check(tree, { left: { n: 'x' } }, 'user')).rejects.toMatchObject({
    code: 'invalid_parameters',
  });
  for (const circle of ['{"$ref": "#"}', '{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}'])
    await expect(checker.check(circle, {}, 'user')).rejects.toMatchObject({
      code: 'invalid_parameter_schema',
      message: expect.stringContaining('circular'),
    });
});

test('a schema can be looked at without parameters', async () => {
  expect(await checker.findSchemaProblem(schema)).toBeUndefined();
  expect(await checker.findSchemaProblem('{"type": "nonsense"}')).toContain('type');
});

test('a schema that takes for ever is given up, and costs the next launch nothing', async () => {
  const slow = JSON.stringify({ properties: { name: { type: 'string', pattern: '^(a+)+$' } } });
  const forever = checker.check(slow, { name: `${'a'.repeat(40)}!` }, 'user');
  const next = checker.check(schema, { name: 'a' }, 'user');
  await expect(forever).rejects.toMatchObject({ code: 'invalid_parameter_schema' });
  expect(await next).toEqual({ name: 'a', retries: 3 });
});
