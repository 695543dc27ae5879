import { readFile } from 'node:fs/promises';
import path from 'node:path';

import { IsArray, IsObject, IsOptional, IsUnion, type TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { expect, it } from 'vitest';

import { exampleOf } from '../arguments/describe-schema.ts';
import { readArguments } from '../arguments/read-arguments.ts';
import { takesText } from '../arguments/variants.ts';
import { type ListedSchema, listedSchema } from '../listed-schema.ts';
import { tools } from './tools.ts';

const argumentsOf = tools.flatMap(({ name, input }) =>
  Object.entries(input.properties).map(([argument, schema]) => ({ name, input, argument, schema })),
);

it('every example that an error gives is one that the tool takes', () => {
  const failing = (schema: TSchema): TSchema[] => [
    ...(Value.Check(schema, exampleOf(schema)) ? [] : [schema]),
    ...(IsObject(schema) ? Object.values(schema.properties).flatMap(failing) : []),
    ...(IsArray(schema) ? failing(schema.items) : []),
    ...(IsUnion(schema) ? schema.anyOf.flatMap(failing) : []),
  ];
  for (const { name, argument, schema } of argumentsOf)
    expect([name, argument, failing(schema)]).toEqual([name, argument, []]);
});

it('every argument of every tool may come as JSON text, and what is optional as null or nothing', () => {
  for (const { name, input, argument, schema } of argumentsOf) {
    const args = { ...Object(exampleOf(input)), [argument]: exampleOf(schema) };
    const others = Object.fromEntries(Object.entries(args).filter(([field]) => field !== argument));
    const read = (given: unknown) => ({ name, argument, ...readArguments(input, given) });
    expect(read(args)).toEqual({ name, argument, args });
    expect(read(JSON.stringify(args))).toEqual({ name, argument, args });
    const text = JSON.stringify(exampleOf(schema));
    if (!takesText(schema, text))
      expect(read({ ...args, [argument]: text })).toEqual({ name, argument, args });
    if (IsOptional(schema))
      for (const nothing of [null, ''])
        expect(read({ ...args, [argument]: nothing })).toEqual({ name, argument, args: others });
    else
      expect(read({ ...args, [argument]: null })).toMatchObject({
        problem: expect.stringMatching(new RegExp(`^${argument} is missing: it must be .+, such as .+\\.$`)),
      });
  }
});

it('a wrong value of any argument is told in one sentence about that argument', () => {
  for (const { input, argument } of argumentsOf) {
    const wrong = { ...Object(exampleOf(input)), [argument]: [[true]] };
    expect(readArguments(input, wrong)).toEqual({
      problem: expect.stringMatching(
        new RegExp(`^${argument}(\\[0\\])? must be .+, such as .+; an array of 1 item came\\.$`),
      ),
    });
  }
});

it('the listed forms have no reference, union of objects, limit or field without a type', () => {
  const check = (schema: ListedSchema, place: string): void => {
    const {
      type,
      anyOf = [],
      properties = {},
      items,
      description: _,
      required: __,
      enum: ___,
      ...others
    } = schema;
    expect([place, others]).toEqual([place, {}]);
    expect([place, (type === undefined) !== (anyOf.length === 0)]).toEqual([place, true]);
    expect([place, anyOf.filter((one) => one.properties !== undefined)]).toEqual([place, []]);
    for (const one of anyOf) check(one, place);
    for (const [name, field] of Object.entries(properties)) check(field, `${place}.${name}`);
    if (items !== undefined) check(items, `${place}[]`);
  };
  for (const { name, input } of tools) check(listedSchema(input), name);
});

it('every argument of the tools is listed, and every field of a step', () => {
  for (const { name, input } of tools)
    expect([name, Object.keys(listedSchema(input).properties ?? {})]).toEqual([
      name,
      Object.keys(input.properties),
    ]);
  const { properties = {} } = listedSchema(tools.find(({ name }) => name === 'act')?.input ?? expect.fail());
  const { items, description = '' } = properties['steps'] ?? {};
  expect(items?.required).toEqual(['type']);
  expect(items?.properties?.['on']).toEqual({
    anyOf: [{ type: 'integer' }, { type: 'string' }, { type: 'object' }],
  });
  for (const name of Object.keys(items?.properties ?? {}).filter((field) => field !== 'type'))
    expect(description).toMatch(new RegExp(`[( ]${name}[?) ]`));
  for (const condition of ['hasText', 'isSwitch', 'rightOf', 'nth']) expect(description).toContain(condition);
});

it('the documentation has a row for every tool, with its arguments', async () => {
  const file = path.join(import.meta.dirname, '../../../../../../docs/coding-agents.md');
  const rows = (await readFile(file, 'utf8')).split('\n');
  for (const { name, input } of tools) {
    const cells = rows.find((row) => row.startsWith(`| \`${name}\``))?.split('|') ?? [];
    const documented = Array.from(cells[2]?.matchAll(/`(\w+)`/g) ?? [], ([, argument]) => argument);
    expect([name, new Set(documented)]).toEqual([name, new Set(Object.keys(input.properties))]);
  }
});
