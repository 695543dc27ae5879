import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { SettingError } from '@phalanx/settings';

import type { Context } from '../../http/context.ts';
import { compileInTurns, type Compiler, createCompiler } from './compiler.ts';
import { readAgentTypes } from './declarations.ts';

/** The programming interface that the checker uses is another one in each minor release. */
const needed = /"version": "7\.0\./;

/** Type checking and bundling, in processes of their own: those of `shared`, if there is one. */
export async function openCompiler(context: Context, shared?: Compiler): Promise<Compiler> {
  return compileInTurns(shared ?? (await openOwnCompiler(context)), context.limits.turns.compile);
}

async function openOwnCompiler({ app, log, limits, confinement, timing }: Context): Promise<Compiler> {
  const isOverShare = (userId: string): boolean => limits.turns.compile.isOverShare(userId);
  const compiler = createCompiler({ log, confinement, isOverShare, agentTypes: await readAgentTypes() });
  const { prepareCompilerMs } = timing;
  let preparing: NodeJS.Timeout | undefined;
  app.addHook('onListen', async () => {
    if (prepareCompilerMs !== undefined)
      preparing = setTimeout(() => compiler.prepare(), prepareCompilerMs).unref();
  });
  app.addHook('onClose', async () => {
    clearTimeout(preparing);
    await compiler.close();
  });
  return compiler;
}

/** Throws a `SettingError` when an installation without our lock file has brought another TypeScript along. */
export function requireTypeScript(
  packageFile: string = createRequire(import.meta.url).resolve('typescript/package.json'),
): void {
  const text = readFileSync(packageFile, 'utf8');
  if (needed.test(text)) return;
  const found = /"version": "([^"]*)"/.exec(text)?.[1] ?? 'of an unknown version';
  throw new SettingError(
    `typescript ${found} is installed, but this release needs 7.0: run "npm install typescript@~7.0.2" where Phalanx is installed.`,
  );
}
