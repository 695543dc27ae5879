import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

import { findNestingProblem } from './nesting.ts';

/** Depth well above every limit, which would overflow the stack of a recursive function. */
const many = 40_000;
const around = (open: string, close: string, inner = '1'): string =>
  `${open.repeat(many)}${inner}${close.repeat(many)}`;

const hostile: readonly [form: string, text: string, path?: string][] = [
  ['ternaries', `let a = ${'a ? b : '.repeat(many)}1;`],
  ['ternaries on lines of their own', `let a = ${'a\n? {}\n: '.repeat(many)}1;`],
  ['ternaries of calls', `let a = ${'f(x) ? [1] : '.repeat(many)}1;`],
  ['templates', around('`${', '}`')],
  ['blocks', around('{', '}', '')],
  ['functions', around('function a(){', '}', '')],
  ['arrow functions', `let a = ${'b => '.repeat(many)}1;`],
  ['asynchronous arrow functions', `let a = ${'async b => '.repeat(many)}1;`],
  ['parentheses', around('(', ')')],
  ['arrays', around('[', ']')],
  ['objects', `let a = ${around('{a:', '}')}`],
  ['calls', `let a = ${around('f(', ')')}`],
  ['negations', `let a = ${'!'.repeat(many)}1;`],
  ['signs', `let a = ${'- '.repeat(many)}1;`],
  ['typeof', `let a = ${'typeof\n'.repeat(many)}1;`],
  ['await', `let a = ${'await '.repeat(many)}1;`],
  ['new', `let a = ${'new '.repeat(many)}A;`],
  ['assignments', `${'a = '.repeat(many)}1;`],
  ['powers', `let a = ${'2 ** '.repeat(many)}1;`],
  ['if', `${'if (a)\n'.repeat(many)};`],
  ['else if', `${'if (a) b(); else '.repeat(many)};`],
  ['else if with blocks', `${'if (a) {}\nelse '.repeat(many)};`],
  ['loops', `${'for (;;)\n'.repeat(many)};`],
  ['do', `${'do '.repeat(many)};`],
  ['labels', `${'a: '.repeat(many)};`],
  ['types', `type A = ${'B<'.repeat(many)}1${'>'.repeat(many)};`],
  ['types with lists', `type A = ${'B<1, '.repeat(many)}1${'>'.repeat(many)};`],
  ['conditional types', `type A = ${'B extends C ? D : '.repeat(many)}1;`],
  ['keyof', `type A = ${'keyof '.repeat(many)}1;`],
  ['types of functions', `type A = ${'(a: '.repeat(many)}1`],
  ['classes', around('class A { a = ', '}')],
  ['elements', `let a = ${around('<a>', '</a>', '')};`, 'main.tsx'],
  [
    'elements behind text with a quote',
    `let a = <p>it's \`</p>; let b = ${around('<a>', '</a>', '')};`,
    'main.tsx',
  ],
  ['expressions in elements', `let a = ${around('<a>{', '}</a>', '')};`, 'main.tsx'],
  ['brackets behind a regular expression', `let r = /[/'"\`]/; ${around('(', ')')}`],
  ['brackets behind a comment', `/* ' " \` */ // ' " \` \n ${around('(', ')')}`],
  ['brackets behind an open quote', `let r = 'it\n ${around('(', ')')}`],
  ['plain JavaScript', around('(', ')'), 'lib.js'],
  ['JSON', around('[', ']'), 'data.json'],
];

describe('nested without end', () => {
  it.each(hostile)('%s: refused with file and line', (form, text, file = 'main.ts') => {
    const started = performance.now();
    const problem = findNestingProblem(file, text);
    console.log(
      `${form} | ${text.length} | ${Math.round(performance.now() - started)} ms | ${problem ?? ''}`,
    );
    expect(problem).toMatch(/^[\w.]+\(\d+,\d+\): error TS2589: /);
  });
});

const lines = (count: number, line: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => line(n)).join('\n');

const honest: readonly [form: string, text: string, path?: string][] = [
  ['statements without semicolons', lines(10_000, (n) => `const a${n} = b ? !c : -d`)],
  ['statements on one line', lines(10_000, (n) => `a${n}=b?!c:-d;`).replaceAll('\n', '')],
  ['if after if', lines(10_000, () => 'if (a) { b = c ? 1 : 2 }')],
  ['if after if on one line', 'if(a){b=!c}'.repeat(10_000)],
  ['if with calls', 'if(a)b();'.repeat(10_000)],
  ['functions after functions', lines(10_000, (n) => `function f${n}(a) { return (b) => !b }`)],
  ['a list of conditions', `let a = [${'b ? 1 : !c,'.repeat(10_000)}]`],
  ['a list of functions', `let a = [${'(b) => !b,'.repeat(10_000)}]`],
  ['data', `export default [${'{"a": [1, {"b": -1}]},'.repeat(10_000)}]`],
  ['a union of many names', `type A = ${lines(10_000, (n) => `| 'icon-${n}'`)};`],
  ['a long text', `let a = ${lines(10_000, () => "'text' +")} ''`],
  ['members without semicolons', `interface A {\n${lines(10_000, (n) => `  a${n}?(b?: string): void`)}\n}`],
  ['fields without semicolons', `class A {\n${lines(10_000, (n) => `  #a${n} = !0`)}\n}`],
  ['cases', `switch (a) {\n${lines(10_000, (n) => `case ${n}:`)}\n}`],
  ['brackets in texts', lines(10_000, () => `f('((((', "[[[[", \`{{{{\${1}\`, /[({]/g)`)],
  ['brackets in comments', lines(10_000, () => `a() /* ((( */ // {{{ it's \``)],
  ['regular expressions after brackets', lines(10_000, () => `if (a) /[(]{2}'/.test(b)`)],
  ['divisions', lines(10_000, () => `a = (b) / c / d['e'] / 2 // '`)],
  ['generics', lines(10_000, (n) => `const a${n} = new Map<string, Array<Set<number>>>()`)],
  ['comparisons', lines(10_000, () => `if (a < b && c > d) e = f < g`)],
  ['many calls', `a${'.b(c)'.repeat(10_000)}`],
  [
    'elements with quotes',
    `let a = <p>${lines(5000, () => `<b>it's {a ? 1 : "}"} \` ( </b><br/>`)}</p>`,
    'main.tsx',
  ],
  ['a hundred choices', lines(1000, (n) => `if (a === ${n}) { b() } else`) + ' {}'],
  ['data in JSON', `[${'{"a": "[[[[", "b": [{}]},'.repeat(10_000)}1]`, 'data.json'],
];

describe('honest code passes', () => {
  it.each(honest)('%s', (_, text, file = 'main.ts') => {
    expect(findNestingProblem(file, text)).toBeUndefined();
  });

  it('that is installed here', () => {
    const root = path.join(import.meta.dirname, '../../../../../../node_modules');
    const files = readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(?:[mc]?js|[mc]?ts|jsx|tsx|json)$/.test(entry.name))
      .map((entry) => path.join(entry.parentPath, entry.name))
      .filter((file) => !file.includes('.cache'))
      .filter((_, index) => index % 20 === 0);
    const problems = files.flatMap(
      (file) => findNestingProblem(file.replaceAll('/', '_'), readFileSync(file, { encoding: 'utf8' })) ?? [],
    );
    expect(problems).toEqual([]);
    expect(files.length).toBeGreaterThan(1000);
  });
});
