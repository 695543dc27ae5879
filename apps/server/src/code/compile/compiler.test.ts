import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { Compiler } from './compiler.ts';
import { createTestCompiler, filesOf, linesOf } from './testing/files-in-memory.ts';

let compiler: Compiler;
beforeAll(async () => {
  compiler = await createTestCompiler();
});
afterAll(() => compiler.close());

/** Returns the error lines of writing `path` with `source` into a project that has `others`. */
async function write(
  source: string,
  others: Record<string, string> = {},
  path = 'main.ts',
): Promise<string[]> {
  return linesOf(compiler.compileFile(filesOf('tests', others), { path, content: source }));
}

async function emitted(
  source: string,
  others: Record<string, string> = {},
  path = 'main.ts',
): Promise<string> {
  const result = await compiler.compileFile(filesOf('tests', others), { path, content: source });
  return result.ok ? (result.js ?? '') : result.errors.join('\n');
}

const strict = { 'tsconfig.json': '{"compilerOptions":{"strict":true,"noUnusedLocals":true}}' };

describe('a mistake is a line with its place', () => {
  test.for<[source: string, line: string, others?: Record<string, string>]>([
    [
      'let a = 1;\nlet b: string = a;',
      "main.ts(2,5): error TS2322: Type 'number' is not assignable to type 'string'.",
    ],
    [
      '\uFEFFlet a: string = 1;',
      "main.ts(1,5): error TS2322: Type 'number' is not assignable to type 'string'.",
    ],
    [
      'let a = 1;',
      'tsconfig.json(1,1): error TS5052: Option',
      {
        'tsconfig.json': '{"compilerOptions":{"strictPropertyInitialization":true,"strictNullChecks":false}}',
      },
    ],
    ['let a = ;', 'main.ts(1,9): error TS1109: Expression expected.'],
    [
      '"😀"; let a: string = 1;',
      "main.ts(1,11): error TS2322: Type 'number' is not assignable to type 'string'.",
    ],
    [
      '"é";\r\n\u2028let a: string = 1;',
      "main.ts(3,5): error TS2322: Type 'number' is not assignable to type 'string'.",
    ],
    [
      'agent.actions.tap("1", 2);',
      "main.ts(1,19): error TS2345: Argument of type 'string' is not assignable to parameter of type 'number'.",
    ],
    [
      'document.title;',
      "main.ts(1,1): error TS2584: Cannot find name 'document': use agent.actions.screenContent() for what is on the screen; there is no page of a browser here.",
    ],
    [
      'process.exit();',
      "main.ts(1,1): error TS2591: Cannot find name 'process': use agent.arguments or agent.secrets instead of process.env, and agent.control.stopCurrentAutomation() instead of process.exit().",
    ],
    [
      'let a: string = null; const unused = 1;',
      "main.ts(1,5): error TS2322: Type 'null' is not assignable to type 'string'.",
      strict,
    ],
    [
      'import { a } from "./a"; a.trim();',
      "main.ts(1,28): error TS2339: Property 'trim' does not exist on type '1'.",
      { 'a.ts': 'export const a = 1;' },
    ],
    [
      'import d from "./d.json"; d.b;',
      "main.ts(1,29): error TS2339: Property 'b' does not exist on type '{ a: number; }'.",
      { 'd.json': '{"a":1}' },
    ],
    [
      'import { a } from "./lib.js"; a.trim();',
      "main.ts(1,33): error TS2339: Property 'trim' does not exist on type 'number'.",
      { 'lib.js': 'export let a = 1;', 'tsconfig.json': '{"compilerOptions":{"allowJs":true}}' },
    ],
    [
      'import "./style.css"; import x from "./style.css";',
      'main.ts(1,37): error TS2307',
      { 'style.css': '' },
    ],
    [
      'let a = 1;',
      'tsconfig.json(1,2): error TS5102: "extends" cannot be used',
      { 'tsconfig.json': '{"extends":"x"}' },
    ],
  ])('%s', async ([source, line, others]) => {
    expect((await write(source, others)).join('\n')).toContain(line);
  });

  test('an explanation of several lines is one line', async () => {
    const lines = await write('const a: { b: { c: string } } = { b: { c: 1 } as { c: number } };');
    expect(lines).toEqual([
      "main.ts(1,35): error TS2322: Type '{ c: number; }' is not assignable to type '{ c: string; }'. " +
        "Types of property 'c' are incompatible. Type 'number' is not assignable to type 'string'.",
    ]);
  });

  test('a million mistakes are a hundred lines and their number', async () => {
    const lines = await write('let a: string = 1;'.repeat(1).concat('\na.x;'.repeat(500)));
    expect(lines).toHaveLength(101);
    expect(lines[100]).toMatch(/^main\.ts\(101,3\): error TS2339: 401 more errors are not shown\.$/);
  });
});

describe('what is right passes', () => {
  test.for<[source: string, others?: Record<string, string>]>([
    ['let a: string = null; function f(x) { return x }'],
    ['await agent.actions.home(); console.log(await fetch("https://example.com")); setTimeout(() => {}, 1);'],
    [
      'import { a } from "./not-yet"; import "./nor-this"; import d from "./nor.json"; console.log(a.b.c, d);',
    ],
    ['/// <reference path="./not-yet.d.ts" />\nexport {};'],
    ['import { a } from "./a.js"; a.toFixed();', { 'a.ts': 'export const a = 1;', 'a.js': '' }],
    ['import { a } from "./a.ts"; a.toFixed();', { 'a.ts': 'export const a = 1;' }],
    ['import { a } from "./lib.js"; a.anything;', { 'lib.js': 'export const a = 1;' }],
    [
      'agent.arguments.automationParameters.name.toFixed();',
      { 'types.d.ts': 'interface AutomationParameters { name: number }' },
    ],
    ['export { Shape } from "./a"; export enum E { A }', { 'a.ts': 'export interface Shape { x: 1 }' }],
    ['const x = 1; export {};', { 'other.ts': 'const x = "two";' }],
    ['@(c => c) class A { @((v, c) => {}) m() {} }'],
    [
      'const a = <div id="x">text</div>; function h(...a) {}',
      { 'tsconfig.json': '{"compilerOptions":{"jsxFactory":"h"}}' },
    ],
  ])('%s', async ([source, others]) => {
    expect(await write(source, others, source.includes('<div') ? 'main.tsx' : 'main.ts')).toEqual([]);
  });

  test('a broken neighbour does not stand in the way', async () => {
    expect(await write('export const a = 1;', { 'broken.ts': 'let a: string = 1; let b = ;' })).toEqual([]);
  });
});

describe('a project reaches nothing outside itself', () => {
  test.for<[source: string, line: string]>([
    ['import x from "/etc/passwd"; x;', "TS2307: Cannot find module '/etc/passwd'"],
    ['import x from "/etc/ssl/openssl.json"; x;', 'TS2307: Cannot find module'],
    ['import x from "../../../../etc/passwd"; x;', 'is outside the project'],
    ['import x from "./../main"; x;', 'is outside the project'],
    ['import x from "file:///etc/passwd"; x;', 'TS2307: Cannot find module'],
    ['import x from "..\\\\..\\\\etc\\\\passwd"; x;', 'TS2307: Cannot find module'],
    ['/// <reference path="/etc/passwd" />\nexport {};', 'is outside the project'],
    ['/// <reference path="../../etc/hosts.ts" />\nexport {};', 'is outside the project'],
    ['/// <reference types="node" />\nexport {};', "TS2688: Cannot find type definition file for 'node'"],
    ['/// <reference types="../../work/x" />\nexport {};', 'TS2688'],
    ['/// <reference lib="dom" />\ndocument;', "Cannot find name 'document'"],
    ['import fs from "node:fs"; fs;', 'packages do not exist here'],
    ['import ts from "typescript"; ts;', 'packages do not exist here'],
    ['let x: typeof import("/etc/passwd");', 'TS2307: Cannot find module'],
    ['import x from "#inner"; x;', 'TS2307: Cannot find module'],
  ])('%s', async ([source, line]) => {
    const others = {
      'package.json': '{"imports":{"#inner":"/etc/passwd"},"types":"/etc/passwd"}',
      'node_modules/typescript/index.d.ts': 'declare const ts: 1; export default ts;',
      'node_modules/typescript/package.json': '{"types":"index.d.ts"}',
    };
    const lines = (await write(source, others)).join('\n');
    expect(lines).toContain(line);
    expect(lines).not.toContain('root:');
  });

  test('one project does not see another', async () => {
    await compiler.compileFile(filesOf('secret', {}), {
      path: 'secret.ts',
      content: 'export const password = 1;',
    });
    for (const specifier of ['../secret', '../secret/secret', '/secret/secret', 'secret/secret'])
      expect(await write(`import { password } from "${specifier}"; password;`)).toHaveLength(1);
  });

  test('no line tells where things lie on the server', async () => {
    const lines = await write('import * as m from "./a"; let n: number = m; let s: string = import("./a");', {
      'a.ts': 'export const a = 1;',
    });
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.join('\n')).not.toMatch(/[/"][ptc][\da-f]{32}|node_modules/);
  });
});

describe('compiled code', () => {
  test.for<[path: string, compiledPath: string]>([
    ['a/b.ts', 'a/b.js'],
    ['a.tsx', 'a.js'],
    ['a.mts', 'a.mjs'],
    ['a.cts', 'a.cjs'],
  ])('of %s goes to %s', async ([path, compiledPath]) => {
    const result = await compiler.compileProject(filesOf('tests', { [path]: 'export const a: number = 1;' }));
    expect(result.ok && [...result.outputs.keys()]).toEqual([compiledPath]);
  });

  test('names the compiled file where the source named a source', async () => {
    const js = await emitted(
      'import { a } from "./a.ts"; import b from "./b.mts"; export * from "./c"; console.log(a, b);',
    );
    expect(js).toMatch(/from "\.\/a\.js".*from "\.\/b\.mjs".*from "\.\/c"/s);
  });

  test('does not export types, though only another file knows that they are', async () => {
    const js = await emitted('export { Shape, area } from "./a";', {
      'a.ts': 'export interface Shape { x: 1 } export const area = 1;',
    });
    expect(js).toContain('export { area }');
  });

  test('carries its source map', async () => {
    const js = await emitted('interface A {}\n\nconsole.log(1);', {}, 'deep/file.ts');
    const map: unknown = JSON.parse(Buffer.from(js.split('base64,')[1] ?? '', 'base64').toString());
    expect(map).toMatchObject({ version: 3, sources: ['file.ts'] });
  });

  test('has decorators rewritten as the options say', async () => {
    const source = 'function d(...a: any[]): any {} @d class A { @d m() {} }';
    const legacy = { 'tsconfig.json': '{"compilerOptions":{"experimentalDecorators":true}}' };
    expect(await emitted(source)).toContain('__decoratorStart');
    expect(await emitted(source, legacy)).toContain('__decorateClass');
  });
});

test('files that cannot be read fail the call, and the next one works', async () => {
  const files = filesOf('unreadable', { 'main.ts': 'import "./a";', 'a.ts': 'export {};' });
  const unreadable = { ...files, read: () => Promise.reject(new Error('the disk is on fire')) };
  const change = { path: 'b.ts', content: 'import "./a";' };
  await expect(compiler.compileFile(unreadable, change)).rejects.toThrow('on fire');
  await expect(compiler.bundleProject(unreadable)).rejects.toThrow('on fire');
  expect(await linesOf(compiler.compileFile(files, change))).toEqual([]);
  expect(await linesOf(compiler.bundleProject(files))).toEqual([]);
});

describe('a whole project', () => {
  test('has every source checked and emitted', async () => {
    const files = filesOf('tests', {
      'main.ts': 'import { a } from "./a"; a;',
      'a.ts': 'export const a = 1;',
      'b.d.ts': 'interface B {}',
      'c.js': 'let broken = ;',
    });
    const result = await compiler.compileProject(files);
    expect(result.ok && [...result.outputs.keys()].sort()).toEqual(['a.js', 'main.js']);
  });

  test('shows mistakes that a later write brought into another file', async () => {
    const files = filesOf('tests', {
      'a.ts': 'export const a = "x";',
      'b.ts': 'import { a } from "./a"; a.toFixed();',
    });
    expect(
      await write('export const a = "x";', { 'b.ts': 'import { a } from "./a"; a.toFixed();' }, 'a.ts'),
    ).toEqual([]);
    expect(await linesOf(compiler.compileProject(files))).toEqual([
      "b.ts(1,28): error TS2551: Property 'toFixed' does not exist on type '\"x\"'. Did you mean 'fixed'?",
    ]);
  });
});
