import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

/** The declarations of all that the runtime offers to automations, for `createCompiler`. */
export async function readAgentTypes(): Promise<string> {
  const require = createRequire(import.meta.url);
  const files = [
    require.resolve('@phalanx/automation/types/agent.d.ts'),
    require.resolve('@phalanx/automation/types/android-node.d.ts'),
    require.resolve('@phalanx/automation/types/web.d.ts'),
  ];
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  return texts.join('\n');
}
