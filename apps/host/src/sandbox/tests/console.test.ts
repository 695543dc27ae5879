/** Compares the output of the sandbox's console with Node's own for the same code. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createSandboxPool, type SandboxPool } from '../pool/sandbox-pool.ts';
import { runCode, testMemoryMb } from '../testing/code-runs.ts';

let pool: SandboxPool;
beforeAll(async () => {
  pool = await createSandboxPool({
    size: 1,
    memoryMb: testMemoryMb,
    fetchPolicy: { allowPrivateAddresses: false },
  });
});
afterAll(() => pool.close());

/** Arguments of `console.log`. */
const printed = [
  `undefined, null, true, 0, -0, NaN, 1e21, 12345678901234567890n`,
  `'text', ['text'], { a: 'it\\'s', b: "both ' and \\"", c: \`all ' " \\\`\` }`,
  `'%s is %d years and %i, %f, %j %o %O %c %%', 'Bob', 42.5, 42.9, '1.5', { a: 1 }, [1], { b: { c: {} } }, 'css', 'rest'`,
  `'%s', { toString() { return 'own' } }, '%s'`,
  `'%s %s %s', null, undefined, Symbol('s')`,
  `'%d', '0x10', 5n`,
  `'%s', class Foo {}, () => 1`,
  `'100%', 'x'`,
  `'%', '%x', 1`,
  `{ a: { b: { c: { d: 1 } } } }`,
  `[[[[1]]]]`,
  `new Map([[{ a: 1 }, 'b'], ['c', new Map([[1, 2]])]])`,
  `new Set([1, 'two', { three: 3 }, new Set([4])])`,
  `new WeakMap(), new WeakSet()`,
  `new Date(0), new Date(NaN), [new Date(86400000)]`,
  `/re+/gi, [/x/]`,
  `new Error('plain').message, Object.assign(new Error('e'), { code: 'E_X' }).code`,
  `[function named() {}, () => {}, async () => {}, function* g() {}, class A {}, class B extends Array {}]`,
  `Object.assign(function f() {}, { x: 1 })`,
  `new (class Point { x = 1; #y = 2; get z() { return 3 } })()`,
  `new (class extends Map {})([[1, 2]])`,
  `Object.create(null), Object.create({ a: 1 }), Object.create(class Q {}.prototype)`,
  `Object.assign(Object.create(null), { a: 1 })`,
  `Array.from({ length: 101 }, (_, i) => i)`,
  `Array.from({ length: 250 }, (_, i) => 'item ' + i)`,
  `[1, , 3], [, ,], Object.assign([1], { extra: true })`,
  `'x'.repeat(200), ['y'.repeat(200)], { long: 'z'.repeat(80), other: 'z'.repeat(80) }`,
  `['line one\\nline two'], 'line one\\nline two'`,
  `{ get a() { return 1 }, set a(v) {}, get b() { return 1 }, set c(v) {} }`,
  `(() => { const o = { name: 'o' }; o.self = o; o.list = [o]; return o })()`,
  `(() => { const a = []; a.push(a); return a })()`,
  `Symbol('x'), { [Symbol('key')]: 1, [Symbol.iterator]: 2 }`,
  `new Uint8Array([1, 2, 3]), new Float64Array(2), new BigInt64Array(1)`,
  `new ArrayBuffer(4), new DataView(new ArrayBuffer(2))`,
  `[new Number(3), new String('abc'), new Boolean(false), Object(5n), Object(Symbol('b'))]`,
  `(function () { return arguments })(1, 2)`,
  `[1][Symbol.iterator](), 'x'.matchAll(/x/g)`,
  `{ 'needs-quotes': 1, valid_1: 2, 3: 4, 'ü': 5, '': 6 }`,
  `{ a: undefined, b: null, c: () => {}, d: Symbol() }`,
  `JSON, Math, globalThis.Reflect`,
  `Object.freeze({ frozen: true }), Object.seal([1])`,
  `{ toJSON() { return 'no' }, toString() { return 'no' } }`,
  `'\\u001b[31mred\\u001b[0m', ['\\u001b', '\\u0000\\u007f', '\\ud800']`,
  `['😀', 'e\\u0301', '汉字'], { 汉字: '😀' }`,
  `new Array(5), new Array(3).fill(), [undefined, null]`,
  `Object.fromEntries(Array.from({ length: 30 }, (_, i) => ['key' + i, i]))`,
  `Array.from({ length: 30 }, (_, i) => ({ id: i, name: 'n' + i })).slice(0, 7)`,
  `[1.5, -2.25, 1e100, 0.1 + 0.2], [1000000, 22, 333, 4444, 55555, 666666, 7777777]`,
  `new (class Foo extends Error { name = 'Bar' })('m') instanceof Error`,
  `{ [Symbol.toStringTag]: 'Tagged', a: 1 }`,
  `new Proxy({ a: 1 }, {}), new Proxy([1, 2], {})`,
  `{ a: 1n, b: [1n, -5n] }`,
  `new WeakRef({}) instanceof WeakRef`,
  `[['a', 1], ['b', 2]], Object.entries({ x: { y: { z: 1 } } })`,
  `{ f() {}, async g() {}, h: function* () {}, i: async function* () {} }`,
  `Promise.race([])`,
];

/** Statements, with the stream to which Node would write: 1 for log, 2 for warn and error. */
const statements = [
  `console.info('i', 1); console.debug({ d: 1 })`,
  `console.log()`,
  `console.table([{ a: 1, b: 'x' }, { a: 2, c: true }])`,
  `console.table([[1, 2], [3, 4]])`,
  `console.table(['p', 'q', { a: 1 }])`,
  `console.table([{ a: 1, b: 2 }], ['b'])`,
  `console.table({ x: { v: 1 }, y: { v: { deep: 1 } } })`,
  `console.table(new Set([1])); console.table(5); console.table(null)`,
  `console.table(new Map([['k', 'v'], ['l', { m: 1 }]]))`,
  `console.table([['é汉😀', 'x'.repeat(20)]])`,
  `console.dir({ a: { b: { c: { d: 1 } } } }, { depth: 0 })`,
  `console.count(); console.count('x'); console.count(); console.countReset(); console.count()`,
  `console.group('G'); console.log('in\\nside'); console.group(); console.log({ a: 1 }); console.groupEnd(); console.log('out'); console.groupEnd(); console.log('end')`,
];
const toStderr = [
  `console.warn('w %d', 5); console.error({ e: 1 })`,
  `console.assert(true, 'no'); console.assert(false); console.assert(false, 'why %s', 'x'); console.assert(0, { a: 1 })`,
];

/** Returns the output of Node, split at the marks. */
async function nodePrints(codes: string[], stream: 'stdout' | 'stderr'): Promise<string[]> {
  const mark = '--mark--';
  const write = `process.${stream}.write('${mark}')`;
  const code = codes.map((one) => `{ ${one} }\n${write};`).join('\n');
  const output = await promisify(execFile)(process.execPath, ['--no-warnings', '-e', code], { env: {} });
  return output[stream].split(mark).slice(0, -1).map(withoutStacks);
}

async function sandboxPrints(codes: string[]): Promise<string[]> {
  const mark = '--mark--';
  const { messages, end } = await runCode(
    pool,
    codes.map((one) => `{ ${one} }\nconsole.log('${mark}');`).join('\n'),
  );
  expect(end).toEqual({ outcome: 'completed', error: null });
  return messages
    .map((message) => (message === mark ? mark : `${message}\n`))
    .join('')
    .split(mark)
    .slice(0, -1)
    .map(withoutStacks);
}

const withoutStacks = (text: string): string => text.replaceAll(/\n +at .*/g, '');

describe('console', () => {
  it.each([
    ['values', printed.map((one) => `console.log(${one})`), 'stdout' as const],
    ['its other methods', statements, 'stdout' as const],
    ['warnings and errors', toStderr, 'stderr' as const],
  ])('prints %s as Node does', async (_, codes, stream) => {
    const [node, sandbox] = await Promise.all([nodePrints(codes, stream), sandboxPrints(codes)]);
    const pairs = (prints: string[]): [string, string][] =>
      codes.map((code, index) => [code, prints[index] ?? 'nothing']);
    expect(pairs(sandbox)).toEqual(pairs(node));
  });

  it('prints errors as Node does', async () => {
    const codes = [
      `console.log(new Error('plain'))`,
      `console.log(Object.assign(new TypeError('with code'), { code: 'E_X', detail: { a: 1 } }))`,
      `const make = (m, o) => new Error(m, o); console.log(new Error('outer', { cause: 'text' }))`,
      `console.log(new AggregateError([new Error('one'), 2], 'many'))`,
      `console.log([new RangeError('in a list')], { e: new Error('in an object') })`,
      `class Own extends Error {}; console.log(new Own('own'))`,
      `console.log(Object.assign(new Error('no stack'), { stack: undefined }))`,
      `console.log(Object.assign(new Error('x'), { name: 'Renamed' }))`,
    ];
    const [node, sandbox] = await Promise.all([nodePrints(codes, 'stdout'), sandboxPrints(codes)]);
    expect(sandbox).toEqual(node);
  });

  // V8 does not reveal the class of an object that has lost its prototype.
  it('prints an instance without its prototype as an object', async () => {
    const code = `console.log(Object.setPrototypeOf(new (class Gone { a = 1 })(), null))`;
    expect((await runCode(pool, code)).messages).toEqual(['[Object: null prototype] { a: 1 }']);
  });

  it('times with labels and warns of unknown ones', async () => {
    const { messages, logs } = await runCode(
      pool,
      `console.time(); console.timeLog('default', 'x', { a: 1 }); console.timeEnd(); console.timeEnd('none'); console.time('a'); console.time('a'); console.countReset('none')`,
    );
    expect(messages[0]).toMatch(/^default: \d+(\.\d+)?ms x \{ a: 1 \}$/);
    expect(messages[1]).toMatch(/^default: \d+(\.\d+)?ms$/);
    expect(messages.slice(2)).toEqual([
      `Warning: No such label 'none' for console.timeEnd()`,
      `Warning: Label 'a' already exists for console.time()`,
      `Warning: Count for 'none' does not exist`,
    ]);
    expect(logs.slice(2).map(({ level }) => level)).toEqual(['warn', 'warn', 'warn']);
  });

  it('traces the user’s own frames', async () => {
    const { messages, logs } = await runCode(pool, `function f() {\n  console.trace('here %d', 1);\n}\nf();`);
    expect(messages).toEqual(['Trace: here 1\n    at f (main.js:2:11)\n    at main.js:4:1']);
    expect(logs[0]).toMatchObject({ level: 'error', lineNumber: 2 });
  });

  it('prints nodes of the screen without their parents', async () => {
    const node = {
      className: 'android.widget.Button',
      text: 'OK',
      boundsInScreen: { left: 0, top: 0, right: 2, bottom: 2 },
      children: [],
    };
    const { messages } = await runCode(
      pool,
      `const s = await agent.actions.screenContent(); console.log(s); console.log(JSON.stringify(s).includes('parent'), s.children[0].parent === s)`,
      {
        onCall: async () => ({ root: { ...node, children: [node] } }) as never,
      },
    );
    expect(messages[0]).toMatch(/^AndroidNode \{/);
    expect(messages[1]).toBe('false true');
  });
});
