type Schema = Readonly<Record<string, unknown>>;

export interface SchemaContext {
  readonly root: Schema;
  readonly depth: number;
  /** How much may still be written: schemas that refer to themselves in many places would not end. */
  readonly budget: { left: number };
}

/** A schema may refer to itself; deeper than this a value is `unknown`. */
const maxDepth = 12;

export const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** The TypeScript type of what `schema` allows; `unknown` for what has no simple type. */
export function typeOf(schema: unknown, { root, depth, budget }: SchemaContext): string {
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

/** Only on one line and without an end of comment, whatever the schema says. */
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

/** Only within the schema itself: `#`, `#/$defs/address`. */
function resolve(root: Schema, reference: string): unknown {
  if (!reference.startsWith('#')) return undefined;
  let found: unknown = root;
  for (const part of reference.slice(1).split('/').slice(1)) {
    const name = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }
  return found;
}
