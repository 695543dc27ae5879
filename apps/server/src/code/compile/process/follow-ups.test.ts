import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { Compiler } from '../compiler.ts';
import { createTestCompiler, filesOf, linesOf } from '../testing/files-in-memory.ts';

const strict = { 'tsconfig.json': '{"compilerOptions":{"strict":true,"noImplicitOverride":true}}' };
let compiler: Compiler;
beforeAll(async () => {
  compiler = await createTestCompiler();
});
afterAll(() => compiler.close());

const lines = (main: string, others: Record<string, string> = {}): Promise<string[]> =>
  linesOf(compiler.compileFile(filesOf('tests', others), { path: 'main.ts', content: main }));

/** Code that becomes correct once `later.ts` exists with the imported names. */
const early = {
  'a class extends it':
    'import { Base } from "./later"; class Login extends Base { override run() { this.tap(); super.run(); } } new Login().tap();',
  'a class that extends one that extends it':
    'import { Base } from "./later";\nclass Page extends Base {}\nclass Login extends Page { go() { return this.tap().x } }\nconst page = new Login()\npage.tap()',
  'an abstract class has it for a parameter':
    'import Base from "./later"; export abstract class A<T> extends Base<T> { constructor() { super(1); this.items.push(2); } }',
  'an interface extends it':
    'import type { I } from "./later";\ninterface J extends I { own: 1 }\ndeclare const j: J;\nconsole.log(j.name.trim(), j.own);',
  'an interface extends it, over several lines':
    'import type {\n  I,\n  K,\n} from "./later";\nexport interface J\n  extends I, K {\n  own: 1;\n}\nexport const use = (j: J) => {\n  return j.name;\n};',
  'a module is extended':
    'import "./later.js";\ndeclare module "./later.js" { interface Shape { x: number } }',
  'an extended module is used':
    'import { Shape } from "./later.js";\ndeclare module "./later.js" { interface Shape { x: number } }\nexport const s: Shape = { x: 1, y: 2 };',
  'a guard narrows':
    'import { isText } from "./later"; export function f(v: unknown) { if (isText(v)) { return v.trim(); } }',
  'a guard filters':
    'import { isText } from "./later";\nconst all: (string | number)[] = [];\nexport const texts: string[] = all.filter(isText).map((t) => t.trim());',
  'an assertion narrows':
    'import { assertText } from "./later";\nexport function f(v: unknown) {\n  assertText(v);\n  return v.trim();\n}',
  'a switch covers all':
    'import { State } from "./later"; export function f(s: State) { switch (s) { case "a": return 1; default: { const never: never = s; return never; } } }',
  'a callback has no types yet':
    'import { each } from "./later"; each((item, index) => { console.log(item.name, index); });',
  'a key is computed': 'import { key } from "./later"; export interface Box { [key]: string }',
  'an enum is computed': 'import { first } from "./later"; export const enum E { A = first, B = 2 }',
  'a file in between has it':
    'import { Middle } from "./middle"; class Login extends Middle { run() { this.tap(); } } export const x = new Login();',
  'it is loaded at run time':
    'const { Base } = await import("./later"); class A extends Base { run() { this.tap(); } }',
  'all of it is imported':
    'import * as later from "./later"; class A extends later.Base { run() { this.tap(); } }\nexport const b: later.T = 1;',
  'it is exported again': 'export * from "./later"; export { a, type B } from "./later";',
};

const middle = { 'middle.ts': 'import { Base } from "./later"; export class Middle extends Base {}' };

describe.for<[mode: string, settings: Record<string, string>]>([
  ['by default', {}],
  ['with "strict"', strict],
])('a file that is not there yet makes no mistakes elsewhere, %s', ([, settings]) => {
  test.for(Object.entries(early))('%s', async ([, source]) => {
    expect(await lines(source, { ...settings, ...middle })).toEqual([]);
  });
});

test.for<[what: string, source: string, line: string]>([
  [
    'beside the import',
    'import { x } from "./later";\nconst n: number = "text";\nconsole.log(x, n);',
    'main.ts(2,7): error TS2322',
  ],
  [
    'in a class that extends it',
    'import { B } from "./later"; class A extends B { run() { this.tap(); let n: number = "text"; } }',
    'main.ts(1,74): error TS2322',
  ],
  [
    'in a function that uses it',
    'import { x } from "./later";\nexport function f() {\n  x();\n  agent.actions.tap("1", 2);\n}',
    'main.ts(4,21): error TS2345',
  ],
  ['of syntax', 'import { x } from "./later"; x(;', 'main.ts(1,32): error TS1'],
  [
    'in a file that is complete',
    'import { Middle } from "./whole"; new Middle().tap();',
    'main.ts(1,48): error TS2339',
  ],
  [
    'of a name that is nowhere',
    'import { x } from "./later";\nconst n = y + 1;',
    'main.ts(2,11): error TS2304',
  ],
  [
    'of an import that can never be',
    'import { x } from "./later"; import "../../x"; import "lodash";',
    'main.ts(1,37): error TS2',
  ],
])('a mistake %s stays one', async ([, source, line]) => {
  const found = await lines(source, { 'whole.ts': 'export class Middle {}' });
  expect(found.join('\n')).toContain(line);
});

test('the mistakes show when the file has come', async () => {
  const main = 'import { Base } from "./later"; class Login extends Base { run() { this.tap(); } }';
  const content = 'export class Base {}';
  const result = await compiler.compileFile(filesOf('tests', { 'main.ts': main }), {
    path: 'later.ts',
    content,
  });
  expect(result).toMatchObject({
    ok: true,
    warnings: ["main.ts(1,73): error TS2339: Property 'tap' does not exist on type 'Login'."],
  });
});

test('code of any shape is judged quickly', async () => {
  const rows = Array.from({ length: 20_000 }, (_, index) => `{ a: [${index}, f(x)], "b": \`\${y}\` }`).join(
    ',\n',
  );
  const source = `import { f } from "./later";\nconst x = 1, y = 2;\nexport const all = [${rows}];\nconst n: number = "text";`;
  expect(await lines(source)).toEqual([
    "main.ts(20003,7): error TS2322: Type 'string' is not assignable to type 'number'.",
  ]);
});
