import type { Context } from '../../http/context.ts';
import { type Compiler, createCompiler } from './compiler.ts';
import { compileInTurns } from './compile-in-turns.ts';
import { readAgentTypes } from './declarations.ts';

/** Opens the compiler for type checking and bundling, with its own processes or those of `shared`. */
export async function openCompiler(context: Context, shared?: Compiler): Promise<Compiler> {
  return compileInTurns(shared ?? (await openOwnCompiler(context)), context.limits.turns.compile);
}

async function openOwnCompiler({ app, log, confinement, timing }: Context): Promise<Compiler> {
  const compiler = createCompiler({ log, confinement, agentTypes: await readAgentTypes() });
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
