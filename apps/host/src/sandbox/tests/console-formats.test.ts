/** Compares the sandbox's console with Node's own for values that are hard to print. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createSandboxPool, type SandboxPool } from '../pool/sandbox-pool.ts';
import { runCode, testMemoryMb } from '../testing/code-runs.ts';

/** Arguments of `console.log`. */
const values: Record<string, string[]> = {
  promises: [
    `Promise.resolve(5)`,
    `Promise.resolve({ a: { b: { c: {} } } })`,
    `(() => { const p = Promise.reject(new Error('no').message); p.catch(() => {}); return p })()`,
    `[Promise.resolve(1), new Promise(() => {})]`,
    `Object.assign(Promise.resolve('x'), { extra: true })`,
    `new (class Later extends Promise {})(() => {})`,
    `(async () => 1)(), (async () => { await null })()`,
    `Promise.resolve(Promise.resolve(undefined)), Promise.resolve(null), Promise.resolve(NaN), Promise.resolve(-0), Promise.resolve(5n), Promise.resolve(Symbol('s'))`,
    `Promise.all([1]), Promise.withResolvers()`,
    `Object.create(Promise.prototype)`,
    `{ then() {} }`,
  ],
  iterators: [
    `new Map([[1, 2], ['k', { v: 1 }]]).entries()`,
    `new Map([[1, 2]]).keys(), new Map([[1, 2]]).values(), new Map([[1, 2]])[Symbol.iterator]()`,
    `new Set([1, 'b']).values(), new Set([1]).keys(), new Set([{ a: 1 }]).entries()`,
    `new Map().entries(), new Set().values(), new Set().entries()`,
    `(() => { const i = new Map([[1, 2], [3, 4]]).entries(); i.next(); return i })()`,
    `(() => { const i = new Set([1]).values(); i.next(); i.next(); return i })()`,
    `(() => { const i = new Map([[1, 2]]).keys(); console.log(i); return [...i] })()`,
    `[new Map([[1, [2]]]).values()]`,
    `(function* () { yield 1 })(), (async function* () {})()`,
    `[][Symbol.iterator](), 'abc'[Symbol.iterator](), 'a'.matchAll(/a/g)`,
    `Iterator.from({ next() {} }), [1].values().map((x) => x)`,
    `Object.create(new Map().entries())`,
  ],
  proxies: [
    `new Proxy({ a: 1 }, { get() { throw new Error('get') }, ownKeys() { throw new Error('ownKeys') }, getPrototypeOf() { throw new Error('proto') } })`,
    `new Proxy([1, 2], { get() { throw new Error('get') } })`,
    `new Proxy(function named() {}, { apply() {} }), new Proxy(class A {}, {})`,
    `new Proxy(new Map([[1, 2]]), {}), new Proxy(new Date(0), {}), new Proxy(new Error('e').message.split(''), {})`,
    `new Proxy(new Proxy({ deep: 1 }, {}), {})`,
    `(() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy })()`,
    `Proxy.revocable({ a: 1 }, {}).proxy`,
    `{ p: new Proxy({}, { has() { throw 1 } }), l: [new Proxy([], {})] }`,
    `Proxy, typeof Proxy, Proxy.name, Proxy.length, 'prototype' in Proxy, Object.prototype.toString.call(Proxy)`,
    `'%s %o %j', new Proxy({ a: 1 }, {}), new Proxy({ a: 1 }, {}), new Proxy({ a: 1 }, {})`,
    `Object.create(new Proxy({ inherited: 1 }, {}))`,
    `new Proxy(new (class Point { x = 1 })(), {})`,
    `(() => { try { Proxy({}, {}) } catch (e) { return e.message } })(), (() => { try { new Proxy(1, {}) } catch (e) { return e.message } })()`,
    `(() => { try { class P extends Proxy {} } catch (e) { return e.name } })()`,
  ],
  'large values': [
    `new Uint8Array(5e6)`,
    `Array(1e6).fill(0)`,
    `Object.assign(Array(2e6).fill(0), { extra: 1, [Symbol('s')]: 2 })`,
    `Object.assign(new Float64Array(1e5), { extra: 1 })`,
    `new Array(1e9), Object.assign([], { length: 5000 })`,
    `(() => { const a = []; a[4000000000] = 1; return a })(), (() => { const a = Array(2000); a[1500] = 1; return a })()`,
    `new Set(Array.from({ length: 1e4 }, (_, i) => i))`,
    `new Map(Array.from({ length: 500 }, (_, i) => [i, { i }]))`,
    `new ArrayBuffer(1e6)`,
    `new DataView(new ArrayBuffer(3000))`,
    `['x'.repeat(20_000)], { s: 'y'.repeat(10_001) }`,
    `Array.from({ length: 101 }, () => 'word').join(' ').split(' ')`,
    `Object.fromEntries(Array.from({ length: 200 }, (_, i) => ['key' + i, 'value ' + i]))`,
    `(() => { let o = {}; for (let i = 0; i < 1e4; i++) o = { o }; return o })()`,
    `[Array(1e5).fill('a'), Array(1e5).fill({ b: 1 })]`,
  ],
  functions: [
    `{ *h() {} }, { async *g() {} }, { async a() {} }, { get g() { return 1 } }`,
    `function* gen() {}, async function* agen() {}, async function af() {}, async () => {}, () => {}`,
    `class A {}, class B extends A0 {}, class extends A0 {}`.replaceAll('A0', 'Array'),
    `Object.assign(() => {}, { a: 1, b: { c: 1 } })`,
    `(() => {}).bind(null), function f() {}.bind(null), Math.max, Object.prototype.toString`,
    `Object.setPrototypeOf(function f() {}, null)`,
    `new Function('a', 'return a'), Function.prototype`,
    `{ [Symbol('m')]() {} }, { 'a b'() {} }, class { static s = 1 }, class X { static #p = 1; static y() {} }`,
  ],
  errors: [
    `(() => { const e = new Error('outer', { cause: new TypeError('inner') }); return e })()`,
    `new AggregateError([new Error('one'), new RangeError('two')], 'many')`,
    `new Error('with', { cause: { code: 1, deep: { a: { b: 1 } } } })`,
    `Object.assign(new Error('x'), { name: 'Renamed' }), Object.assign(new Error('y'), { message: 'changed' })`,
    `Object.assign(new Error('many\\nlines'), { a: 1 })`,
    `(() => { class Own extends Error { name = 'OwnName'; extra = [1] } return new Own('m') })()`,
    `(() => { class Own extends TypeError { constructor(m) { super(m); this.code = 'E' } } return new Own('m') })()`,
    `(() => { const e = new Error('gone'); delete e.stack; return e })(), (() => { const e = new Error('x'); e.stack = 'own stack'; return e })()`,
    `(() => { const e = new Error(''); return [e] })(), new Error()`,
    `{ e: new Error('nested'), m: new Map([['e', new Error('in a map')]]) }`,
    `Object.create(Error.prototype), Object.setPrototypeOf(new Error('np'), null)`,
    `(() => { const e = new Error('self'); e.cause = e; return e })()`,
    `new DOMException('dom', 'AbortError').name, new SyntaxError('s').name`,
    `(() => { const e = new Error('hidden'); Object.defineProperty(e, 'secret', { value: 1 }); return e })()`,
    `(() => { const e = new Error('m'); e.message = { a: 1 }; return e })(), (() => { const e = new Error('n'); e.name = 5; return e })()`,
  ],
  objects: [
    `Object.create(null), Object.assign(Object.create(null), { a: 1 }), Object.create(Object.create(null))`,
    `Object.setPrototypeOf(new Map([[1, 2]]), null), Object.setPrototypeOf([1], null), Object.setPrototypeOf(new Date(0), null)`,
    `new (class A { constructor() { this.self = this } })()`,
    `new (class A { get [Symbol.toStringTag]() { return 'Tag' } })(), new (class B { constructor() { this[Symbol.toStringTag] = 'Own' } })()`,
    `{ [Symbol.toStringTag]: 'T' }, { [Symbol.toStringTag]: 5 }, { constructor: 'text' }, { constructor: { name: 'Fake' } }`,
    `{ __proto__: { inherited: 1 }, own: 2 }, { ['__proto__']: 1 }`,
    `(() => { const a = { n: 'a' }, b = { a }; a.b = b; a.list = [a, b]; return { a, b } })()`,
    `{ get a() { return 1 }, set a(v) {}, get b() { throw new Error('never run') }, set c(v) {} }`,
    `{ [Symbol()]: 1, [Symbol('d')]: Symbol('v'), [Symbol.for('g')]: 1 }, Object.defineProperty({}, Symbol('hidden'), { value: 1 })`,
    `[new Number(-0), new String('s'), new Boolean(true), Object(1n), Object(Symbol('q'))], Object.assign(new Number(3), { x: 1 }), Object.assign(new String('abc'), { x: 1 })`,
    `new (class N extends Number {})(4), new (class S extends String {})('s'), new (class D extends Date {})(0)`,
    `new Date(NaN), new Date(8.64e15), Object.assign(new Date(0), { x: 1 }), [new Date(1e12)]`,
    `/a/giu, Object.assign(/b/, { x: 1 }), new (class R extends RegExp {})('c'), Object.create(RegExp.prototype), Object.create(Date.prototype)`,
    `new WeakMap(), new WeakSet(), new WeakRef({ a: 1 }), new FinalizationRegistry(() => {})`,
    `(function () { return arguments })(), (function () { return arguments })(1, { a: 1 })`,
    `globalThis.Math, JSON, Reflect, Symbol, Object, Map.prototype, Set.prototype, Promise.prototype, Array.prototype, Date.prototype, Error.prototype`,
    `{ toString: 5 }, { valueOf() { return 1 } }, { inspect() { return 'no' } }`,
    `{ [Symbol.for('nodejs.util.inspect.custom')](depth, options) { return 'custom ' + depth + ' ' + typeof options.stylize } }`,
    `{ [Symbol.for('nodejs.util.inspect.custom')]() { return { other: 'object' } } }, { [Symbol.for('nodejs.util.inspect.custom')](d, o, inspect) { return inspect({ a: { b: 1 } }, o) } }`,
    `Object.freeze([1, Object.freeze({ a: 1 })]), Object.preventExtensions({ a: 1 })`,
    `new (class A { static s = 1; #p = 2; q = this.#p; m() {} })(), new (class extends Array {})(3), new (class extends Set {})([1])`,
    `new (class Foo extends Object {})(), new (class extends (class Base {}) {})(), new (class extends null { constructor() { return Object.create(new.target.prototype) } })()`,
  ],
  collections: [
    `new Map([[{ k: 1 }, new Set([new Map([['deep', { a: { b: 1 } }]])])]])`,
    `new Map([[NaN, -0], [undefined, null], [Symbol('s'), 1n]])`,
    `Object.assign(new Map([[1, 2]]), { extra: 1 }), Object.assign(new Set([1]), { extra: 1 })`,
    `(() => { const m = new Map(); m.set('self', m); return m })(), (() => { const s = new Set(); s.add(s); return s })()`,
    `[1, , 3, , , 6], [, 'a'], [undefined, , null], Array(3), [[], [[]], [[[]]], [[[[]]]]]`,
    `Object.assign([1, 2], { '-1': 'x', 1.5: 'y', key: 'z' }), Object.assign([], { 4294967295: 'beyond' })`,
    `['a', 'b'].concat(Array(99).fill('c')), Array.from({ length: 27 }, (_, i) => i * 1000)`,
    `Array.from({ length: 30 }, (_, i) => 'x'.repeat(i % 7)), Array.from({ length: 12 }, (_, i) => ({ i }))`,
    `new Uint8Array([1, 2, 3]), new Int16Array(3), new BigUint64Array(2), new Float32Array([1.5, NaN, -0]), new Uint8ClampedArray(1)`,
    `new (class Bytes extends Uint8Array {})(2), Object.assign(new Uint8Array(1), { x: 1 }), [new Uint8Array(2)], Object.setPrototypeOf(new Uint8Array(2), null)`,
    `new ArrayBuffer(10), Object.assign(new ArrayBuffer(1), { x: 1 }), new DataView(new ArrayBuffer(2), 1), [new ArrayBuffer(60)]`,
    `['😀', '👨‍👩‍👧', 'é', '汉字', 'ｆｕｌｌ', '🇩🇪', 'a'].concat(Array(10).fill('汉'))`,
  ],
  texts: [
    `'\\ud800', '\\udc00x', 'a\\ud83d', '😀', '\\ud83d\\ude00'`,
    `['\\ud800', 'ok 😀', '\\udfff'], { '\\ud800': 1 }`,
    `['it\\'s', "q\\"'", '\`\\'"', '\\n\\t\\b\\u0000\\u007f\\u0085'], ['\\\\', '\\u2028']`,
    `'multi\\nline', ['multi\\nline'], { a: 'multi\\nline', b: ['x'.repeat(100) + '\\n' + 'y'.repeat(100)] }`,
    `'', [''], { '': '' }, ' ', ['  ']`,
    `-0, [-0], 0xff, 1e21, 1e-7, 123456789.123, -1n, 2n ** 64n, NaN, -Infinity`,
    `{ 'a-b': 1, a_b: 2, $: 3, 1: 4, '01': 5, 'ä': 6, 'a b': 7, class: 8 }`,
    `'\\u001b[31mred\\u001b[39m', ['\\u001b[1m'], '\\x07'`,
  ],
  'values of the web': [
    `new URL('http://user:pw@example.com:81/p/a?b=1&c=2#d')`,
    `{ url: new URL('http://example.com/') }, [[[new URL('http://example.com/')]]]`,
    `new URLSearchParams('a=1&b=x y'), new URLSearchParams(), { q: new URLSearchParams('a=1') }`,
    `new Headers({ b: '2', 'content-type': 'text/plain' }), new Headers()`,
    `new AbortController(), new AbortController().signal, AbortSignal.abort()`,
    `{ href: 'text' }, '%s', new URL('http://example.com/')`,
    `new TextEncoder().encode('é'), new Date(0).toISOString(), structuredClone({ a: [1, new Map([[1, 2]])] })`,
    `btoa('x'), typeof crypto.randomUUID(), new DOMException('m', 'AbortError').code`,
  ],
  'format strings': [
    `'%s', { a: { b: 1 } }, '%s'`,
    `'%s|%s|%s|%s', 1n, -0, Symbol('x'), [1, [2, [3]]]`,
    `'%s', new (class A { toString() { return 'own' } })(), new (class B extends Date {})(0)`,
    `'%s %s %s', new Error('in text').message, () => 1, class Foo {}`,
    `'%d %d %d %d', '5', 1n, Symbol('n').description, {}`,
    `'%i %i %i', 42.9, '12abc', 5n`,
    `'%f %f %f', '1.50', 'x', 1n`,
    `'%j %j %j', { a: [1] }, undefined, 'text'`,
    `'%j', (() => { const o = {}; o.o = o; return o })()`,
    `'%o', { f() {}, a: [1, { b: {} }] }`,
    `'%O', { a: { b: { c: { d: { e: 1 } } } } }`,
    `'%c styled %c', 'color: red', 'x', 'rest'`,
    `'%%', '%', '100%', '%%%s', 'x', '%s'`,
    `'%x %s', 1, 2`,
    `'a', 'b', { c: 'd' }, 'e', ['f']`,
    `5, '%s', 'x'`,
    `'%s', null, undefined, true`,
    `'%s', Object.create(null), '%s', Object.create({ toString() { return 'inherited' } })`,
    `'%s', { [Symbol.toPrimitive]() { return 'prim' } }, { toString: null }`,
    `'%d', new Date(5), '%i', [7], '%f', { valueOf() { return 1.5 } }`,
  ],
};

let pool: SandboxPool;
beforeAll(async () => {
  pool = await createSandboxPool({
    size: 1,
    memoryMb: testMemoryMb,
    fetchPolicy: { allowPrivateAddresses: false },
  });
});
afterAll(() => pool.close());

const mark = '--mark--';

async function nodePrints(codes: string[]): Promise<string[]> {
  const code = codes.map((one) => `{ console.log(${one}) }\nprocess.stdout.write('${mark}\\n');`).join('\n');
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', `'use strict';${code}`], {
    env: {},
    maxBuffer: 2 ** 26,
  });
  return stdout.split(`${mark}\n`).slice(0, -1);
}

async function sandboxPrints(codes: string[]): Promise<string[]> {
  const code = codes.map((one) => `{ console.log(${one}) }\nconsole.log('${mark}');`).join('\n');
  const { messages, end } = await runCode(pool, code);
  expect(end).toEqual({ outcome: 'completed', error: null });
  return `${messages.join('\n')}\n`.split(`${mark}\n`).slice(0, -1);
}

/**
 * Removes stack frames, because positions differ, and the lines that replace frames that Node has already printed for
 * an outer error.
 */
const withoutFrames = (text: string): string =>
  text.replaceAll(/\n +at .*/g, '').replaceAll(/\n +\.\.\. \d+ lines matching cause stack trace \.\.\./g, '');

describe('console.log prints as Node does', () => {
  it.each(Object.entries(values))('%s', async (_, codes) => {
    const [node, sandbox] = await Promise.all([nodePrints(codes), sandboxPrints(codes)]);
    const pairs = (prints: string[]): [string, string][] =>
      codes.map((code, index) => [code, withoutFrames(prints[index] ?? 'nothing')]);
    expect(pairs(sandbox)).toEqual(pairs(node));
  });
});
