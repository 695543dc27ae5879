import fastJsonStringify from 'fast-json-stringify';
import type { TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';

/**
 * Compiles a schema of a contract when the first request needs it: all of them at the start of a server would take
 * most of its time. Servers of one process and routes with the same schema share the result.
 */
function lazily<Compiled>(compile: (schema: TSchema) => Compiled): (schema: TSchema) => () => Compiled {
  const compiled = new WeakMap<TSchema, Compiled>();
  return (schema) => () => {
    const found = compiled.get(schema) ?? compile(schema);
    compiled.set(schema, found);
    return found;
  };
}

export const validatorOf = lazily((schema): Validator => Compile(schema));

export const serializerOf = lazily((schema): ((reply: unknown) => string) => fastJsonStringify(schema));
