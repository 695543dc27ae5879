import { SourceMap } from 'node:module';
import { createContext, runInContext } from 'node:vm';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { Compiler } from '../compiler.ts';
import { createTestCompiler, filesOf, linesOf } from '../testing/files-in-memory.ts';

let compiler: Compiler;
beforeAll(async () => {
  compiler = await createTestCompiler();
});
afterAll(() => compiler.close());

async function bundle(contents: Record<string, string>): Promise<{ code: string; sourceMap: string }> {
  const result = await compiler.bundleProject(filesOf('tests', contents));
  if (!result.ok) throw new Error(result.errors.join('\n'));
  return result;
}

/** Runs code as the sandbox does, and returns what it logged. */
async function run(contents: Record<string, string>): Promise<unknown[]> {
  const { code } = await bundle(contents);
  const logged: unknown[] = [];
  const context = createContext({ log: (value: unknown) => logged.push(value) });
  await runInContext(`(async () => { ${code} })()`, context);
  return logged;
}

/** Finds the source of a line of the script, counted from 1. */
function findOrigin(sourceMap: string, line: number): object {
  const entry = new SourceMap(JSON.parse(sourceMap)).findEntry(line - 1, 4);
  return 'originalSource' in entry ? { source: entry.originalSource, line: entry.originalLine + 1 } : {};
}

describe('the script of a project runs with', () => {
  test.for<[name: string, contents: Record<string, string>, logged: unknown[]]>([
    [
      'several files',
      {
        'main.ts': 'import { a } from "./x/a"; log(a)',
        'x/a.ts': 'export { b as a } from "../b.js"',
        'b.ts': 'export const b = 1',
      },
      [1],
    ],
    [
      'circular imports',
      {
        'main.ts': 'import { isEven } from "./even"; log(isEven(10))',
        'even.ts':
          'import { isOdd } from "./odd"; export function isEven(n) { return n === 0 || isOdd(n - 1) }',
        'odd.ts':
          'import { isEven } from "./even"; export function isOdd(n) { return n !== 0 && isEven(n - 1) }',
      },
      [true],
    ],
    [
      'await at the top level',
      {
        'main.ts': 'import { a } from "./a"; log(await Promise.resolve(a))',
        'a.ts': 'export const a = await Promise.resolve(2)',
      },
      [2],
    ],
    [
      'modules in the order of their imports',
      {
        'main.ts': 'import "./a"; import "./b"; log("main")',
        'a.ts': 'await null; log("a")',
        'b.ts': 'log("b")',
      },
      ['a', 'b', 'main'],
    ],
    [
      'JSON',
      {
        'main.ts': 'import d from "./d.json"; import { n } from "./d.json"; log(d.n + n)',
        'd.json': '{"n":3}',
      },
      [6],
    ],
    [
      'enums and namespaces',
      {
        'main.ts':
          'import { E, C } from "./e"; namespace N { export const x = E.B } log(N.x); log(E[1]); log(C.X)',
        'e.ts': 'export enum E { A, B } export const enum C { X = "x" }',
      },
      [1, 'B', 'x'],
    ],
    [
      'standard decorators',
      {
        'main.ts':
          'function add(v: any, c: ClassMethodDecoratorContext) { return function () { return v.call(this) + String(c.name) } } class A { @add m() { return "m" } } log(new A().m())',
      },
      ['mm'],
    ],
    [
      'legacy decorators',
      {
        'tsconfig.json': '{"compilerOptions":{"experimentalDecorators":true}}',
        'main.ts': 'function d(t: any, k: string) { log(k) } class A { @d x = 1 } new A()',
      },
      ['x'],
    ],
    [
      'parameter properties and generics',
      { 'main.ts': 'class Box<T> { constructor(readonly value: T) {} } log(new Box<number>(5).value)' },
      [5],
    ],
    [
      'types that are exported again',
      {
        'main.ts': 'import { Shape, n } from "./b"; const s: Shape = { n }; log(s.n)',
        'b.ts': 'export { Shape, n } from "./c"',
        'c.ts': 'export interface Shape { n: number } export const n = 7',
      },
      [7],
    ],
    ['imports at run time', { 'main.ts': 'log((await import("./a")).a)', 'a.ts': 'export const a = 8' }, [8]],
    ['JavaScript', { 'main.js': 'import { a } from "./a.js"; log(a)', 'a.js': 'export const a = 9' }, [9]],
    ['CommonJS', { 'main.ts': 'import a from "./a.cjs"; log(a.x)', 'a.cjs': 'exports.x = 10' }, [10]],
    [
      'its sources rather than what they were compiled to',
      {
        'main.ts': 'import { a } from "./a.js"; log(a)',
        'main.js': 'log("old")',
        'a.ts': 'export const a = "new"',
        'a.js': 'export const a = "old"',
      },
      ['new'],
    ],
    ['exports in the entry', { 'main.ts': 'export const a = 11; export default a; log(a)' }, [11]],
    ['strict code', { 'main.ts': 'log((function () { return this })() === undefined)' }, [true]],
  ])('%s', async ([, contents, logged]) => {
    expect(await run(contents)).toEqual(logged);
  });
});

test('the source map leads to the lines that the user wrote', async () => {
  const { code, sourceMap } = await bundle({
    'main.ts': 'import { fail } from "./deep/fail";\n\ninterface A {}\n\nfail();\n',
    'deep/fail.ts':
      'type T = 1;\nenum E { A, B }\n\nexport function fail() {\n  throw new Error("here");\n}\n',
  });
  const lines = code.split('\n');
  const thrown = lines.findIndex((line) => line.includes('throw new Error'));
  const called = lines.findIndex((line) => line.startsWith('fail()'));
  expect(findOrigin(sourceMap, thrown + 1)).toEqual({ source: 'deep/fail.ts', line: 5 });
  expect(findOrigin(sourceMap, called + 1)).toEqual({ source: 'main.ts', line: 5 });
});

test.for<[contents: Record<string, string>, line: string]>([
  [{ 'a.ts': '' }, 'main.ts(1,1): error TS6053: The project has no main.ts (or main.js) to start with'],
  [
    { 'main.ts': '\nimport "./a";' },
    'main.ts(2,8): error TS2307: Cannot import "./a": there is no such file in the project',
  ],
  [
    { 'main.ts': 'import "lodash";' },
    'main.ts(1,8): error TS2307: Cannot import "lodash": packages do not exist here',
  ],
  [
    { 'main.ts': 'import "../a";' },
    'main.ts(1,8): error TS2307: Cannot import "../a": the path is outside the project',
  ],
  [{ 'main.ts': 'import "/etc/passwd";' }, 'Cannot import "/etc/passwd": packages do not exist here'],
  [
    { 'main.ts': 'import "./a.css";', 'a.css': '' },
    'Cannot import "./a.css": only code and JSON can be imported',
  ],
  [{ 'main.ts': '"😀"; let a = ;' }, 'main.ts(1,15): error TS1005: Unexpected ";"'],
  [{ 'main.ts': 'import d from "./d.json"; d;', 'd.json': '{' }, 'd.json(1,2): error TS1005:'],
])('what cannot be bundled is said with its place: %s', async ([contents, line]) => {
  expect((await linesOf(compiler.bundleProject(filesOf('tests', contents)))).join('\n')).toContain(line);
});
