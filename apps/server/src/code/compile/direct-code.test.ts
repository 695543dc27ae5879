import { afterAll, beforeAll, expect, test } from 'vitest';

import type { Compiler } from './compiler.ts';
import { createTestCompiler, linesOf } from './testing/files-in-memory.ts';

let compiler: Compiler;
beforeAll(async () => {
  compiler = await createTestCompiler();
});
afterAll(() => compiler.close());

const lines = (code: string): Promise<string[]> => linesOf(compiler.bundleDirectCode('ada', code));

test.for<[code: string, lines: string[]]>([
  ['const n: number = "types are not looked at"; await agent.actions.home();', []],
  ['console.log("a");\nif (true) {', ["main.ts(2,12): error TS1005: '}' expected."]],
  [
    'let a = ;\nlet b = ;',
    ['main.ts(1,9): error TS1109: Expression expected.', 'main.ts(2,9): error TS1109: Expression expected.'],
  ],
  [
    'import fs from "fs";\nimport "./a";',
    [
      'main.ts(1,16): error TS2307: Cannot import "fs": direct code cannot import anything; use agent.files for files of the phone',
      'main.ts(2,8): error TS2307: Cannot import "./a": direct code cannot import anything',
    ],
  ],
  ['let a; let a;', ['main.ts(1,12): error TS1005: The symbol "a" has already been declared']],
  ['`unended', ['main.ts(1,9): error TS1160: Unterminated template literal.']],
])('%s', async ([code, expected]) => {
  expect(await lines(code)).toEqual(expected);
});

test('nesting without end costs that code, and not the next', async () => {
  const depth = 400_000;
  const found = await lines(`let a = ${'('.repeat(depth)}1${')'.repeat(depth)};`);
  for (const line of found) expect(line).toMatch(/^main\.ts\(\d+,\d+\): error TS\d+: [^\n]*$/);
  expect(await lines('console.log(1);')).toEqual([]);
});

test('`require` is not defined, and the lines stay where they were', async () => {
  const code = 'console.log(typeof require);\nthrow new Error("here");';
  const plain = await compiler.bundleDirectCode('ada', code.replace('require', 'requirE'));
  const result = await compiler.bundleDirectCode('ada', code);
  if (!result.ok || !plain.ok) throw new Error('it does not compile');
  expect(result.code).not.toContain('var __require');
  const lineOf = (script: string): number => script.split('\n').findIndex((line) => line.startsWith('throw'));
  expect(result.sourceMap.split(';').length - plain.sourceMap.split(';').length).toBe(
    lineOf(result.code) - lineOf(plain.code),
  );
});
