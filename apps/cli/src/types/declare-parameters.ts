import { isObject, typeOf, type SchemaContext } from './schema-type.ts';

const maxParts = 1000;

/** `interface AutomationParameters` for what a JSON Schema of it allows, as far as it can be said in types. */
export function declareParameters(schema: unknown): string {
  const head = '// Made from parameters.schema.json by "phalanx types".\n';
  if (!isObject(schema)) return `${head}export {};\n`;
  const context: SchemaContext = { root: schema, depth: 0, budget: { left: maxParts } };
  const members = typeOf({ type: 'object', ...schema }, context);
  // What can't be said as an interface stays as the runtime declares it: any name, any value.
  return members.startsWith('{')
    ? `${head}interface AutomationParameters ${members}\n`
    : `${head}export {};\n`;
}
