import { createHash } from 'node:crypto';
import { openConfinement } from '@phalanx/confinement';
import { createCompiler, type Compiler } from '../compiler.ts';
import { readAgentTypes } from '../declarations.ts';
import type { ProjectFiles } from '../project-mirror.ts';

const hash = (text: string): string => createHash('sha1').update(text).digest('hex');

/** A project in memory. */
export function filesOf(projectId: string, contents: Record<string, string>): ProjectFiles {
  const ids = new Map(Object.entries(contents).map(([path, text]) => [path, hash(text)]));
  return {
    projectId,
    treeId: hash(JSON.stringify([...ids])),
    list: async () => ids,
    read: async (path) => contents[path],
  };
}

/** A compiler as the server has it, with what the test changes. */
export async function createTestCompiler(
  options: Partial<Parameters<typeof createCompiler>[0]> = {},
): Promise<Compiler> {
  const log = { warn: () => undefined };
  // The machines of tests are slow and shared; the limits themselves have tests of their own.
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

/** The lines of a compilation; empty when it is right. */
export async function linesOf(
  result: Promise<{ ok: true } | { ok: false; errors: string[] }>,
): Promise<string[]> {
  const awaited = await result;
  return awaited.ok ? [] : awaited.errors;
}
