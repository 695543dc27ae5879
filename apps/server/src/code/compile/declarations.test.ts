import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { Compiler } from './compiler.ts';
import { readAgentTypes } from './declarations.ts';
import { createTestCompiler, filesOf, linesOf } from './testing/files-in-memory.ts';

const strict = { 'tsconfig.json': '{"compilerOptions":{"strict":true}}' };
let compiler: Compiler;
beforeAll(async () => {
  compiler = await createTestCompiler();
});
afterAll(() => compiler.close());

describe.for<[mode: string, settings: Record<string, string>]>([
  ['by default', {}],
  ['with "strict"', strict],
])('%s', ([, settings]) => {
  const check = (content: string): Promise<string[]> =>
    linesOf(compiler.compileFile(filesOf('tests', settings), { path: 'main.ts', content }));

  test('no declaration names a type that nothing declares', async () => {
    expect(await check(await readAgentTypes())).toEqual([]);
  });

  test('no part of the runtime is silently any', async () => {
    expect(await check('agent.utils.outOfStepz.foo();')).toHaveLength(1);
    expect(await check('await runStages({ states: 1, stages: [] });')).not.toEqual([]);
    expect(await check('ScreenshotRecord.GREAT_QUALITY;')).toHaveLength(1);
  });

  test('results tell success from failure', async () => {
    const source = `
      const sent = await agent.utils.outOfSteps.submit('debug', 'tag');
      export const told: string = sent.success ? sent.id : sent.error;
      const debugged = await agent.utils.debug();
      if (!debugged.success) console.warn(debugged.error.trim());
      else console.log(debugged.id.trim());
      const end = await runStages<'home'>({ states: { home: 'Home' }, stages: [] });
      export const story: string = end.success ? end.stage : end.error + end.reason + end.usedSteps;
      const { success, id, error } = sent;
      export const short: string = success ? id : error;`;
    expect(await check(source)).toEqual([]);
    expect(await check(source.replaceAll(': string', ': number'))).toHaveLength(3);
  });
});
