import { createHash } from 'node:crypto';
import { openConfinement } from '@phalanx/confinement';
import { createCompiler, type Compiler } from '../compiler.ts';
import { readAgentTypes } from '../declarations.ts';
import type { ProjectFiles } from '../project-mirror.ts';

const hash = (text: string): string => createHash('sha1').update(text).digest('hex');

/** Creates a project's files in memory. */
export function filesOf(projectId: string, contents: Record<string, string>): ProjectFiles {
  const ids = new Map(Object.entries(contents).map(([path, text]) => [path, hash(text)]));
  return {
    projectId,
    treeId: hash(JSON.stringify([...ids])),
    list: async () => ids,
    read: async (path) => contents[path],
  };
}

/** Creates a compiler like the server's, with the test's options. */
export async function createTestCompiler(
  options: Partial<Parameters<typeof createCompiler>[0]> = {},
): Promise<Compiler> {
  const log = { warn: () => undefined };
  // Raises the limits, because test machines are slow and shared. The limits themselves have tests of their own.
  return createCompiler({
    log,
    agentTypes: await readAgentTypes(),
    confinement: await openConfinement(),
    processes: 1,
    timeoutMs: 120_000,
    processorMs: 120_000,
    ...options,
  });
}

/** Returns the error lines of a compilation. Empty when it succeeds. */
export async function linesOf(
  result: Promise<{ ok: true } | { ok: false; errors: string[] }>,
): Promise<string[]> {
  const awaited = await result;
  return awaited.ok ? [] : awaited.errors;
}
