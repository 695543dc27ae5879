import { choiceOf } from '@phalanx/protocol';
import { IsArray, IsObject, IsOptional, IsRecord, IsUnion, type TObject, type TSchema } from 'typebox';
import { Value } from 'typebox/value';

import { expectedOf, exampleOf } from './describe-schema.ts';
import { type Fields, isClosedObject, isFields, variantOf } from './variants.ts';

/**
 * Describes the first problem in one sentence: the place, the expected value with an example, and the given value. `at`
 * is the path in the caller's terms, such as `steps[0].on`; empty for the arguments as a whole. Returns undefined when
 * the value is valid.
 */
export function findProblem(schema: TSchema, value: unknown, at = ''): string | undefined {
  const variant = variantOf(schema, value);
  return (
    (variant === schema ? choiceProblem(schema, value, at) : undefined) ??
    innerProblem(variant, value, at) ??
    ownProblem(variant, value, at)
  );
}

function ownProblem(variant: TSchema, value: unknown, at: string): string | undefined {
  if (Value.Check(variant, value)) return undefined;
  const place = at === '' ? 'The arguments' : at;
  const expected = `${expectedOf(variant)}${suchAs(variant)}`;
  return `${place} must be ${expected}; ${describe(value)} came${ifNoJson(value)}.`;
}

/** Describes the problem of an object that matches none of the variants. */
function choiceProblem(schema: TSchema, value: unknown, at: string): string | undefined {
  const choice = IsUnion(schema) ? choiceOf(schema) : undefined;
  if (choice === undefined || !isFields(value)) return undefined;
  const { field, variants } = choice;
  const expected = `must be one of ${[...variants.keys()].join(', ')}${suchAs(schema)}`;
  const given = value[field];
  const place = inside(at, field);
  return given === undefined
    ? `${place} is missing: it ${expected}.`
    : `${place} ${expected}; ${describe(given)} came.`;
}

function innerProblem(schema: TSchema, value: unknown, at: string): string | undefined {
  if (IsArray(schema) && Array.isArray(value))
    return firstOf(value, (item, index) => findProblem(schema.items, item, `${at}[${index}]`));
  if (!isFields(value)) return undefined;
  if (IsObject(schema))
    return (
      unknownField(schema, value, at) ??
      firstOf(Object.entries(schema.properties), ([name, field]) =>
        fieldProblem(field, value[name], inside(at, name)),
      )
    );
  const [values] = IsRecord(schema) ? Object.values(schema.patternProperties) : [];
  if (values === undefined) return undefined;
  return firstOf(Object.entries(value), ([name, given]) => findProblem(values, given, inside(at, name)));
}

function fieldProblem(field: TSchema, given: unknown, at: string): string | undefined {
  const isMissing = given === undefined || given === null;
  if (!isMissing) return findProblem(field, given, at);
  if (IsOptional(field)) return undefined;
  return `${at} is missing: it must be ${expectedOf(field)}${suchAs(field)}.`;
}

function unknownField(schema: TObject, value: Fields, at: string): string | undefined {
  if (!isClosedObject(schema)) return undefined;
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(schema.properties, name));
  if (unknown === undefined) return undefined;
  const fields = Object.keys(schema.properties).join(', ');
  return `${at} takes ${fields}${suchAs(schema)}; the field ${quoted(unknown)} came.`;
}

function firstOf<Item>(
  items: readonly Item[],
  find: (item: Item, index: number) => string | undefined,
): string | undefined {
  for (const [index, item] of items.entries()) {
    const problem = find(item, index);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const inside = (at: string, name: string): string => {
  if (!/^\w{1,100}$/.test(name)) return `${at}[${quoted(name)}]`;
  return at === '' ? name : `${at}.${name}`;
};

const suchAs = (schema: TSchema): string => `, such as ${JSON.stringify(exampleOf(schema))}`;

const shownCharacters = 60;
const quoted = (text: string): string =>
  JSON.stringify(text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text);

function describe(value: unknown): string {
  if (value === '') return 'an empty text';
  if (typeof value === 'string')
    return value.length > shownCharacters
      ? `a text of ${value.length} characters, ${quoted(value)},`
      : `the text ${quoted(value)}`;
  if (typeof value === 'number') return `the number ${value}`;
  if (Array.isArray(value)) return `an array of ${value.length} item${value.length === 1 ? '' : 's'}`;
  return isFields(value) ? 'an object' : String(value);
}

/** Adds a hint to a text that was meant as JSON. */
const ifNoJson = (value: unknown): string =>
  typeof value === 'string' && /^\s*[[{]/.test(value) ? ', which is not valid JSON' : '';
