import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';

/** Reads all declaration files of the runtime that automations see. Returns their texts by file name. */
export async function readDeclarations(): Promise<ReadonlyMap<string, string>> {
  const require = createRequire(import.meta.url);
  const folder = path.dirname(require.resolve('@phalanx/automation/types/agent.d.ts'));
  const names = (await readdir(folder)).filter((name) => name.endsWith('.d.ts')).sort();
  const texts = names.map(async (name) => [name, await readFile(path.join(folder, name), 'utf8')] as const);
  return new Map(await Promise.all(texts));
}

/** Reads the declarations of `readDeclarations` as one text, for `createCompiler`. */
export async function readAgentTypes(): Promise<string> {
  return [...(await readDeclarations()).values()].join('\n');
}
