import { defaultOptions, fixedOptions } from '@phalanx/server/checking-options';
import { readDeclarations } from '@phalanx/server/declarations';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

import { notice } from '../../output/notice.ts';
import { findKind, ownFolder } from '../local-path.ts';
import { writeBelow } from '../write-own-file.ts';
import { isObject, type SchemaContext, typeOf } from './schema-type.ts';

const typesFolder = `${ownFolder}/types`;
const configFile = 'tsconfig.json';
const schemaFile = 'parameters.schema.json';

/** The options that the server checks with, for a folder that has none of its own. */
const defaultConfig = {
  compilerOptions: { ...defaultOptions, ...fixedOptions },
  // Folders with a dot are not looked into unless they are named.
  include: ['**/*', `${typesFolder}/*.d.ts`],
};

export const defaultConfigText = `${JSON.stringify(defaultConfig, null, 2)}\n`;

/** Writes what an editor needs to know `agent`. Returns the paths that it wrote. */
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

/** A config of the user's own is left as it is, but has to name the types. */
async function hasConfig(root: string): Promise<boolean> {
  const file = path.join(root, configFile);
  const kind = await findKind(file);
  if (kind === 'file' && !(await readFile(file, 'utf8')).includes(typesFolder))
    notice(`For your editor to know "agent", add "${typesFolder}/*.d.ts" to "include" in ${configFile}.`);
  return kind !== undefined;
}

/** Without a schema an empty declaration takes the place of an older one. */
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
