import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { defaultOptions, fixedOptions } from '@phalanx/server/checking-options';
import { readDeclarations } from '@phalanx/server/declarations';

import { notice } from '../../output/terminal.ts';
import { findKind, ownFolder, writeBelow } from '../local-files.ts';

const typesFolder = `${ownFolder}/types`;
const configFile = 'tsconfig.json';
const schemaFile = 'parameters.schema.json';

/** Compiler options of the server, for a folder without its own. */
const defaultConfig = {
  compilerOptions: { ...defaultOptions, ...fixedOptions },
  // TypeScript skips folders whose names begin with a dot, unless they are listed.
  include: ['**/*', `${typesFolder}/*.d.ts`],
};

export const defaultConfigText = `${JSON.stringify(defaultConfig, null, 2)}\n`;

/** Writes the types of `agent` for an editor. Returns the written paths. */
export async function writeTypes(root: string): Promise<string[]> {
  const files = new Map(await readDeclarations());
  const parameters = await declareOwnParameters(root);
  if (parameters !== undefined) files.set('parameters.d.ts', parameters);
  const written: string[] = [];
  for (const [name, text] of files) {
    await writeBelow(root, `${typesFolder}/${name}`, text);
    written.push(`${typesFolder}/${name}`);
  }
  if (await hasConfig(root)) return written;
  await writeBelow(root, configFile, defaultConfigText);
  return [...written, configFile];
}

/** Whether the folder has a tsconfig.json. The user's own is kept, with a notice if it does not include the types. */
async function hasConfig(root: string): Promise<boolean> {
  const file = path.join(root, configFile);
  const kind = await findKind(file);
  if (kind === 'file' && !(await readFile(file, 'utf8')).includes(typesFolder))
    notice(`For your editor to know "agent", add "${typesFolder}/*.d.ts" to "include" in ${configFile}.`);
  return kind !== undefined;
}

/** Declares the parameters of the folder's schema. Without a schema, an empty declaration replaces an older one. */
async function declareOwnParameters(root: string): Promise<string | undefined> {
  const file = path.join(root, schemaFile);
  if ((await findKind(file)) !== 'file') return 'export {};\n';
  try {
    const schema: unknown = JSON.parse(await readFile(file, 'utf8'));
    return declareParameters(schema);
  } catch {
    notice(`${schemaFile} is not valid JSON: the types of your parameters were not written.`);
    return undefined;
  }
}

const maxParts = 1000;

/** Returns `interface AutomationParameters` for a JSON Schema, as far as types can express it. */
export function declareParameters(schema: unknown): string {
  const head = '// Made from parameters.schema.json by "phalanx types".\n';
  if (!isObject(schema)) return `${head}export {};\n`;
  const context: SchemaContext = { root: schema, depth: 0, budget: { left: maxParts } };
  const members = typeOf({ type: 'object', ...schema }, context);
  // A schema that cannot be an interface keeps the declaration of the runtime: any name, any value.
  return members.startsWith('{')
    ? `${head}interface AutomationParameters ${members}\n`
    : `${head}export {};\n`;
}

type Schema = Readonly<Record<string, unknown>>;

interface SchemaContext {
  readonly root: Schema;
  readonly depth: number;
  /** Number of parts that may still be written. Schemas that refer to themselves in many places would not end. */
  readonly budget: { left: number };
}

/** Maximum depth, because a schema may refer to itself. A deeper value is `unknown`. */
const maxDepth = 12;

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** Returns the TypeScript type of the values that `schema` allows; `unknown` if there is no simple type. */
function typeOf(schema: unknown, { root, depth, budget }: SchemaContext): string {
  if (!isObject(schema) || depth > maxDepth || budget.left-- <= 0) return 'unknown';
  const context = { root, depth: depth + 1, budget };
  const referred = schema['$ref'];
  if (typeof referred === 'string') return typeOf(resolve(root, referred), context);
  if ('const' in schema) return literal(schema['const']);
  if (Array.isArray(schema['enum'])) return union(schema['enum'].map(literal));
  const choices = [...listOf(schema['anyOf']), ...listOf(schema['oneOf'])];
  if (choices.length > 0) return union(choices.map((choice) => typeOf(choice, context)));
  if (Array.isArray(schema['allOf'])) return 'unknown';
  const { type } = schema;
  if (Array.isArray(type)) return union(listOf(type).map((one) => typeOf({ ...schema, type: one }, context)));
  return namedType(type, schema, context);
}

function namedType(type: unknown, schema: Schema, context: SchemaContext): string {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type;
    case 'number':
    case 'integer':
      return 'number';
    case 'array':
      return arrayType(schema, context);
    case 'object':
      return objectType(schema, context);
    default:
      return 'unknown';
  }
}

function arrayType({ prefixItems, items }: Schema, context: SchemaContext): string {
  if (!Array.isArray(prefixItems)) return `(${typeOf(items, context)})[]`;
  const first = prefixItems.map((item) => `${typeOf(item, context)}?`);
  return `[${[...first, ...(items === false ? [] : [`...(${typeOf(items, context)})[]`])].join(', ')}]`;
}

function objectType(schema: Schema, context: SchemaContext): string {
  const { properties, required, additionalProperties } = schema;
  const needed = new Set(listOf(required));
  const named = Object.entries(isObject(properties) ? properties : {});
  const margin = '  '.repeat(context.depth);
  const members = named.map(([name, property]) => {
    // The server fills defaults in.
    const isThere = needed.has(name) || (isObject(property) && 'default' in property);
    const key = `${JSON.stringify(name)}${isThere ? '' : '?'}`;
    return `${comment(property, margin)}${margin}${key}: ${typeOf(property, context)};\n`;
  });
  if (named.length === 0) {
    const rest =
      additionalProperties === undefined || additionalProperties === true ? {} : additionalProperties;
    return rest === false ? '{}' : `{ [name: string]: ${typeOf(rest, context)} }`;
  }
  return `{\n${members.join('')}${'  '.repeat(context.depth - 1)}}`;
}

/** Returns the description as a comment on one line, without an end of comment in it. */
function comment(property: unknown, margin: string): string {
  const description = isObject(property) ? property['description'] : undefined;
  if (typeof description !== 'string') return '';
  const text = description.replaceAll(/\s+/g, ' ').replaceAll('*/', '*\\/').trim();
  return text === '' ? '' : `${margin}/** ${text} */\n`;
}

function literal(value: unknown): string {
  if (value === null || ['string', 'boolean'].includes(typeof value)) return JSON.stringify(value);
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : 'unknown';
}

function union(types: readonly string[]): string {
  const different = [...new Set(types)];
  if (different.length === 0 || different.includes('unknown')) return 'unknown';
  return different.length === 1 ? (different[0] ?? 'unknown') : `(${different.join(' | ')})`;
}

/** Resolves references within the schema itself: `#`, `#/$defs/address`. */
function resolve(root: Schema, reference: string): unknown {
  if (!reference.startsWith('#')) return undefined;
  let found: unknown = root;
  for (const part of reference.slice(1).split('/').slice(1)) {
    const name = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }
  return found;
}
