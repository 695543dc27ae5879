import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

const files = ['agent.d.ts', 'android-node.d.ts', 'web.d.ts'];

/** The declarations of all that the runtime offers to automations, for `createCompiler`. */
export async function readAgentTypes(): Promise<string> {
  const { resolve } = createRequire(import.meta.url);
  const texts = await Promise.all(
    files.map((name) => readFile(resolve(`@phalanx/automation/types/${name}`), 'utf8')),
  );
  return texts.join('\n');
}
