/** Attempts to use the console, and the values that it inspects, against the sandbox or against the run's own log. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createSandboxPool, type SandboxPool } from '../pool/sandbox-pool.ts';
import { runCode, testMemoryMb } from '../testing/code-runs.ts';

let pool: SandboxPool;
beforeAll(async () => {
  pool = await createSandboxPool({
    size: 2,
    memoryMb: testMemoryMb,
    fetchPolicy: { allowPrivateAddresses: false },
  });
});
afterAll(() => pool.close());

/** Attempts, each of which logs its result. The expected text is the log of a failed attempt. */
const attempts: [name: string, code: string, expected: string][] = [
  [
    'a proxy whose every trap throws',
    `const traps = new Proxy({}, { get() { throw new Error('trap') } }); console.log(new Proxy({ a: 1 }, traps), [new Proxy([], traps)])`,
    '{ a: 1 } [ [] ]',
  ],
  [
    'a proxy that counts its traps',
    `let count = 0; const handler = Object.fromEntries(Reflect.ownKeys(Reflect).filter((k) => typeof k === 'string').map((k) => [k, (...a) => { count++; return Reflect[k](...a) }])); const p = new Proxy({ a: 1 }, handler); console.log(p); console.log('%O', p); console.dir(p); console.error({ p }); console.log(count)`,
    '{ a: 1 }\n{ a: 1 }\n{ a: 1 }\n{ p: { a: 1 } }\n0',
  ],
  [
    'a proxy made by the constructor of another',
    `const Other = Proxy.bind(null); const { proxy } = Object.getOwnPropertyDescriptor(Proxy, 'revocable').value({ r: 1 }, { get() { throw 1 } }); console.log(new Other({ o: 1 }, { get() { throw 1 } }), Reflect.construct(Proxy, [{ c: 1 }, { get() { throw 1 } }], Object), proxy)`,
    '{ o: 1 } { c: 1 } { r: 1 }',
  ],
  [
    'traps of Object.prototype under Proxy itself',
    `let seen = 0; for (const k of ['get', 'apply', 'construct', 'has']) Object.prototype[k] = () => { seen++; throw new Error(k) }; let name; try { name = Proxy.name; new Proxy(function () {}, Object.create(null))() } catch (e) { name = e.message } for (const k of ['get', 'apply', 'construct', 'has']) delete Object.prototype[k]; console.log(name, seen)`,
    'Proxy 0',
  ],
  [
    'a proxy in the chain of prototypes',
    `let count = 0; const proto = new Proxy({}, { getPrototypeOf() { count += 100; return null }, get(t, k) { count++; return undefined } }); console.log(Object.create(proto) !== null, count)`,
    'true 0',
  ],
  [
    'patched WeakMap, Map and Set',
    `for (const C of [WeakMap, Map, Set]) for (const k of Reflect.ownKeys(C.prototype)) { try { Object.defineProperty(C.prototype, k, { value() { throw new Error('caught ' + String(k)) } }) } catch {} } console.log(new Proxy({ a: 1 }, {}), 'x', { b: 1 }); console.count()`,
    '{ a: 1 } x { b: 1 }\ndefault: 1',
  ],
  [
    'patched String, Array, Number, RegExp and Object for texts',
    `const names = [[String, 'slice'], [String, 'replaceAll'], [String, 'charCodeAt'], [Array, 'unshift'], [Array, 'map'], [Array, 'join'], [Array, 'slice'], [Number, 'toString'], [RegExp, 'exec'], [Object, 'hasOwnProperty']]; for (const [C, k] of names) C.prototype[k] = () => { throw new Error('caught ' + k) }; Array.prototype[Symbol.iterator] = () => { throw new Error('iterated') }; Object.keys = Object.entries = Reflect.apply = Reflect.ownKeys = JSON.stringify = () => { throw new Error('caught static') }; console.log('x', 1, null, '%s', 'y'); console.log('%s %d', 'a', 2); console.warn('w'); console.group(); console.log('in'); console.groupEnd(); console.count('c'); console.assert(false, 'no')`,
    'x 1 null %s y\na 2\nw\n  in\nc: 1\nAssertion failed: no',
  ],
  [
    'patched promises under a look into a promise',
    `const { then } = Promise.prototype; let seen = 0; Promise.prototype.then = function (...a) { seen++; return then.apply(this, a) }; console.log(Promise.resolve(1)); console.log(seen)`,
    'Promise { 1 }\n0',
  ],
  [
    'a microtask during a look',
    `const order = []; Promise.resolve().then(() => order.push('micro')); console.log(Promise.resolve(1), new Map([[1, 2]]).values()); order.push('after'); await null; console.log(order.join())`,
    'Promise { 1 } [Map Iterator] { 2 }\nafter,micro',
  ],
  [
    'a look that hides a rejection',
    `const p = Promise.reject(new Error('unhandled')); console.log(typeof p); console.log([new Promise(() => {})]); await new Promise((r) => setTimeout(r, 20)); console.log('not here')`,
    'object\n[ Promise { <pending> } ]',
  ],
  [
    'a look out of a look',
    `const e = new Error('x'); Object.defineProperty(e, 'stack', { get() { console.log(Promise.resolve('inner')); return 'own stack' } }); console.log(Promise.resolve(e).constructor.name); console.log(typeof Promise.resolve(e))`,
    'Promise\nobject',
  ],
  [
    'the ends of a look in the global object',
    `console.log(Object.getOwnPropertyNames(globalThis).filter((n) => /look|phalanx|inspect|devtools/i.test(n)), typeof __phalanxLook)`,
    '[] undefined',
  ],
  [
    'the tools of a debugger',
    `debugger; console.log(typeof console.context, typeof console.createTask, typeof inspect, typeof queryObjects, typeof $_, Object.keys(console).length)`,
    'undefined undefined undefined undefined undefined 19',
  ],
  [
    'the functions of a look in a stack',
    `const all = []; Error.prepareStackTrace = (e, sites) => { all.push(...sites.map((s) => [s.getFunction(), s.getThis()])); return 'st' }; const e = new Error('x'); Object.defineProperty(e, 'later', { enumerable: true, get() { return new Error('y').stack } }); console.log(Promise.resolve(e) !== null); new Error('z').stack; console.log(all.flat().every((x) => x === undefined))`,
    'true\ntrue',
  ],
  [
    'the inspect function that custom inspection gets',
    `let got; console.log({ [Symbol.for('nodejs.util.inspect.custom')](d, o, inspect) { got = inspect; return 'custom' } }); console.log(got.constructor('return typeof process + typeof require')(), Object.keys(got).includes('custom'))`,
    'custom\nundefinedundefined true',
  ],
  [
    'an endless value',
    `const endless = () => new Proxy({}, { ownKeys: () => ['next'], getOwnPropertyDescriptor: () => ({ value: endless(), enumerable: true, configurable: true }) }); console.log(endless())`,
    '{}',
  ],
  [
    'a replaced toJSON that rewrites a log entry',
    `Object.prototype.toJSON = Array.prototype.toJSON = String.prototype.toJSON = () => ({ level: 'error', message: 'forged' }); console.log('x', { a: 1 }); console.log('%j', 1)`,
    'x { a: 1 }\n1',
  ],
  [
    'a name that looks like one of the engine’s errors',
    `const o = Object.create(null); Object.defineProperty(o, 'constructor', { value: class { static name = 'incompatible receiver #<Evil>' } }); console.log(o)`,
    '[Object: null prototype] {}',
  ],
];

describe('the console is not turned by', () => {
  it.each(attempts)('%s', async (_, code, expected) => {
    const { end, messages } = await runCode(pool, code);
    expect(messages.filter((message) => !message.startsWith('Uncaught')).join('\n')).toBe(expected);
    expect(end.error?.code ?? 'none').toMatch(/^(none|uncaught_error)$/);
  });

  it('orders that a patched toJSON rewrites', async () => {
    const { messages } = await runCode(
      pool,
      `Object.prototype.toJSON = function () { return 'id' in this ? { ...this, id: 1 } : this };
let timers = 0;
try { for (; timers < 60_000; timers++) setTimeout(() => {}, 1e6) } catch (e) { console.log(timers, e.message) }
let refused = 0;
const all = Array.from({ length: 401 }, () => fetch('http://192.0.2.1/').catch((e) => { if (e instanceof RangeError) refused++ }));
await null; await null; await null; await null;
console.log(refused); agent.control.stopCurrentAutomation()`,
    );
    expect(messages).toEqual(['10000 Too many timers: at most 10000 may wait at a time.', '337']);
  });

  it('a character that the cut at 64 KiB would split, and halves of characters', async () => {
    const { messages } = await runCode(
      pool,
      `for (let pad = 0; pad < 3; pad++) console.log('x'.repeat(pad) + '😀'.repeat(40_000)); console.log('a\\ud83d', '\\ude00'); throw new Error('\\ud83d' + '😀'.repeat(40_000))`,
    );
    expect(messages.every((message) => message.isWellFormed())).toBe(true);
    expect(messages[0]).toMatch(/^(😀)+… \[cut: the message had 80000 characters, 65536 is the limit\]$/u);
    expect(messages[3]).toBe('a\ufffd \ufffd');
  });
});
