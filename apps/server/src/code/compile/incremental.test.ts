import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';

import type { Compiler } from './compiler.ts';
import { createTestCompiler, filesOf, linesOf } from './testing/files-in-memory.ts';

let compiler: Compiler;
beforeAll(async () => {
  // Leaves room for fresh projects in addition to the warm one.
  compiler = await createTestCompiler({ maxWarmProjects: 4 });
});
afterAll(() => compiler.close());

const paths = ['main.ts', 'a.ts', 'b.ts', 'c/d.ts', 'types.d.ts', 'data.json', 'c/index.ts'];
const contents = [
  'export const v = 1; export interface T { x: number }',
  'export const v = "one"; export interface T { x: string }',
  'import { v, T } from "./a"; export { v }; const t: T = { x: 1 }; v.toFixed();',
  'import { v } from "./c/d"; export { v }; const n: number = v; declare global { var shared: number }',
  'import d from "./data.json"; export const v = d.x; d.y.z;',
  'import { v } from "./c"; export { v }; shared.toFixed(); ambient.toFixed();',
  'import { v } from "../b"; export { v }; v.trim();',
  'declare const ambient: number;',
  '{"x": 1}',
  'const broken = ;',
];

const edit = fc.record({
  path: fc.constantFrom(...paths),
  content: fc.option(fc.constantFrom(...contents), { nil: undefined }),
  isWritten: fc.boolean(),
});
const isSource = (path: string): boolean => path.endsWith('.ts') && !path.endsWith('.d.ts');

test('after any edits a warm project gives the lines of a fresh one', async () => {
  let nextProject = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 12 }), async (edits) => {
      const warmId = `warm-${nextProject++}`;
      let files: Record<string, string> = {};
      for (const { path, content, isWritten } of edits) {
        const change = { path, content: content ?? '' };
        const isCompiled = isSource(path) && content !== undefined;
        if (isCompiled) {
          const warm = await linesOf(compiler.compileFile(filesOf(warmId, files), change));
          const fresh = await linesOf(compiler.compileFile(filesOf(`fresh-${nextProject++}`, files), change));
          expect(warm).toEqual(fresh);
        }
        // Discards half of the writes, like failed writes.
        const { [path]: _, ...others } = files;
        if (isWritten) files = content === undefined ? others : { ...others, [path]: content };
      }
      const warm = await linesOf(compiler.compileProject(filesOf(warmId, files)));
      const fresh = await linesOf(compiler.compileProject(filesOf(`fresh-${nextProject++}`, files)));
      expect(warm).toEqual(fresh);
    }),
    { numRuns: 10 },
  );
});

test('a file that arrives is found by those that wait for it', async () => {
  const main = 'import { a } from "./a"; const s: string = a;';
  const change = { path: 'main.ts', content: main };
  expect(await linesOf(compiler.compileFile(filesOf('arriving', {}), change))).toEqual([]);
  const files = filesOf('arriving', { 'main.ts': main, 'a.ts': 'export const a = 1;' });
  expect(await linesOf(compiler.compileFile(files, change))).toEqual([
    "main.ts(1,32): error TS2322: Type 'number' is not assignable to type 'string'.",
  ]);
});

test('a tsconfig.json that changes counts at once', async () => {
  const change = { path: 'main.ts', content: 'const s: string = null;' };
  const strict = { 'tsconfig.json': '{"compilerOptions":{"strict":true}}' };
  expect(await linesOf(compiler.compileFile(filesOf('settings', {}), change))).toEqual([]);
  expect(await linesOf(compiler.compileFile(filesOf('settings', strict), change))).toHaveLength(1);
  expect(await linesOf(compiler.compileFile(filesOf('settings', {}), change))).toEqual([]);
});
