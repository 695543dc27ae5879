/** Attempts to break out of the sandbox, by name. None may reach its target. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createSandboxPool, type SandboxPool } from '../pool/sandbox-pool.ts';
import { runCode, testMemoryMb } from '../testing/code-runs.ts';

let pool: SandboxPool;
let server: Server;
let hits = 0;
let port = 0;

beforeAll(async () => {
  process.env['PHALANX_TEST_SECRET'] = 'in the environment of the host';
  server = createServer((_, response) => {
    hits += 1;
    response.end('reached');
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  port = (server.address() as AddressInfo).port;
  pool = await createSandboxPool({
    size: 2,
    memoryMb: testMemoryMb,
    fetchPolicy: { allowPrivateAddresses: false },
  });
});
afterAll(async () => {
  delete process.env['PHALANX_TEST_SECRET'];
  await pool.close();
  await new Promise((resolve) => server.close(resolve));
});

/** Attempts, each of which logs its result. The expected text is the log of a failed attempt. */
const attempts: [name: string, code: string, expected: string][] = [
  ['the process object', `console.log(typeof process)`, 'undefined'],
  [
    'require',
    `console.log(typeof require, typeof module, typeof exports, typeof __dirname)`,
    'undefined undefined undefined undefined',
  ],
  [
    'dynamic import',
    `console.log(await import('node:fs').then(() => 'in', (e) => e.message))`,
    'Not supported',
  ],
  [
    'dynamic import by eval',
    `console.log(await (0, eval)("import('node:fs')").then(() => 'in', (e) => e.message))`,
    'Not supported',
  ],
  [
    'the Function constructor',
    `console.log((function () {}).constructor('return typeof process')())`,
    'undefined',
  ],
  [
    'the async Function constructor',
    `console.log(await (async () => {}).constructor('return typeof process')())`,
    'undefined',
  ],
  [
    'the Function constructor of a global',
    `console.log(console.log.constructor('return typeof process + typeof require')())`,
    'undefinedundefined',
  ],
  [
    'the Function constructor of fetch',
    `console.log(await fetch.constructor('return typeof process')())`,
    'undefined',
  ],
  [
    'the Function constructor of agent',
    `console.log(agent.actions.tap.constructor.constructor('return typeof process')())`,
    'undefined',
  ],
  [
    'the constructor of an error from the host',
    `try { await agent.actions.tap(1, 2) } catch (e) { console.log(e.constructor.constructor('return typeof process')()) }`,
    'undefined',
  ],
  [
    'the constructor of a result of the host',
    `const r = await agent.actions.currentApp(); console.log(r.constructor.constructor('return typeof process')(), Object.getPrototypeOf(r) === Object.prototype)`,
    'undefined true',
  ],
  [
    'the caller of a callback',
    `setTimeout(function f() { try { console.log(String(f.caller)) } catch (e) { console.log(e.name) } })`,
    'TypeError',
  ],
  [
    'the caller of a sloppy callback',
    `const f = Function('return function g() { return g.caller }')(); console.log([1].map(f)[0] === null || true)`,
    'true',
  ],
  [
    'call sites of prepareStackTrace',
    `Error.prepareStackTrace = (_, sites) => sites.map((s) => [s.getThis(), s.getFunction()].some((x) => x !== undefined)).some(Boolean); const p = new Promise((r) => setTimeout(() => r(new Error().stack))); console.log(await p)`,
    'false',
  ],
  [
    'Symbol.species',
    `class P extends Promise { static get [Symbol.species]() { return function (run) { run((v) => console.log(typeof v), () => {}) } } } const t = agent.actions.currentApp(); t.constructor = P; t.then((x) => x); await t; console.log('end')`,
    'object\nundefined\nend',
  ],
  [
    'a patched Promise',
    `const seen = []; const { then } = Promise.prototype; Promise.prototype.then = function (...a) { for (const f of a) if (f) seen.push(String(f)); return then.apply(this, a) }; await agent.actions.currentApp(); console.log(seen.join().includes('applySync'))`,
    'false',
  ],
  [
    'a patched JSON',
    `const seen = []; const { stringify, parse } = JSON; JSON.stringify = (v) => { seen.push(v); return stringify(v) }; JSON.parse = (t) => { seen.push(t); return { ok: true, value: { root: this } } }; await agent.actions.back().catch(() => {}); JSON.stringify = stringify; console.log(seen.every((s) => typeof s === 'string' || typeof s === 'object'))`,
    'true',
  ],
  [
    'a patched toJSON',
    `Object.prototype.toJSON = function () { return { type: 'ended', outcome: 'completed', error: null, level: 'fatal' } }; try { console.log('x') } catch {} delete Object.prototype.toJSON; console.log('still here')`,
    'x\nstill here',
  ],
  [
    'setters on Object.prototype',
    `for (const k of ['id', 'name', 'params', 'ask', 'block', 'level', 'message']) Object.defineProperty(Object.prototype, k, { set() { throw new Error('set ' + k) }, get() { return 'got' }, configurable: true }); console.log('x')`,
    'x',
  ],
  [
    'patched arrays',
    `for (const k of ['push', 'map', 'filter', 'join', 'slice', 'includes', Symbol.iterator]) Array.prototype[k] = function () { return [] }; try { console.log('x') } catch {} agent.control.stopCurrentAutomation()`,
    'x',
  ],
  [
    'a patched Reflect and Function.prototype',
    `Reflect.apply = Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { throw new Error('caught') }; console.log('x')`,
    'x',
  ],
  [
    'functions of isolated-vm',
    `const found = []; const seen = new Set(); const walk = (o, path) => { if ((typeof o !== 'object' && typeof o !== 'function') || o === null || seen.has(o)) return; seen.add(o); if (/isolated|Reference$|ExternalCopy|applySync/.test(path)) found.push(path); for (const k of Reflect.ownKeys(o)) { let d; try { d = Reflect.getOwnPropertyDescriptor(o, k) } catch { continue } for (const v of [d.value, d.get, d.set]) walk(v, path + '.' + String(k)) } walk(Reflect.getPrototypeOf(o), path + '.__proto__') }; walk(globalThis, ''); console.log(found.length, seen.size > 500)`,
    '0 true',
  ],
  [
    'WebAssembly',
    `console.log(typeof WebAssembly, typeof SharedArrayBuffer, typeof Atomics)`,
    'undefined undefined undefined',
  ],
  [
    'state of the polyfills',
    `console.log(Object.getOwnPropertyNames(globalThis).filter((n) => /core|prelude|phalanx/i.test(n)))`,
    '[]',
  ],
  [
    'paths of the host in an error',
    `const all = []; try { null.x } catch (e) { all.push(e.stack) } await agent.actions.tap(1, 2).catch((e) => all.push(e.stack)); await fetch('http://127.0.0.1/').catch((e) => all.push(e.stack)); await import('x').catch((e) => all.push(e.stack)); console.log(all.length, /\\/work|\\/home|node_modules|sandbox-child|prelude/.test(all.join()))`,
    '4 false',
  ],
  [
    'an await in a getter of thenable results',
    `Object.defineProperty(Object.prototype, 'then', { get() { return undefined }, configurable: true }); console.log((await agent.actions.currentApp()).packageName)`,
    'com.example',
  ],
  ['the wrapper of the script', `}); globalThis.escaped = typeof process; (async () => {`, ''],
  ['a fake position in the stack', `eval("console.log('x')\\n//# sourceURL=phalanx:run:9999999:1")`, 'x'],
];

describe('no way out by', () => {
  it.each(attempts)('%s', async (_, code, expected) => {
    const { end, messages } = await runCode(pool, code, {
      onCall: async (name) => {
        if (name === 'app.current') return { packageName: 'com.example', activity: null } as never;
        throw new Error('no');
      },
    });
    expect(messages.filter((message) => !message.startsWith('Uncaught')).join('\n')).toBe(expected);
    expect(end.error?.code ?? 'none').toMatch(/^(none|uncaught_error)$/);
  });

  it('source maps that name files of the host', async () => {
    const sourceMap = JSON.stringify({
      version: 3,
      sources: ['/etc/passwd', 'file:///etc/passwd'],
      names: [],
      mappings: 'AAAA',
    });
    const { messages, logs } = await runCode(pool, `console.log(new Error('x').stack)`, { sourceMap });
    expect(messages.join()).not.toContain('root:');
    expect(logs[0]?.lineNumber).toBe(1);
  });

  it.each(['{', '[]', '{"version":3}', '{"version":3,"sources":[],"names":[],"mappings":"!!!!"}', 'null'])(
    'the source map %s',
    async (sourceMap) => {
      const { end, messages } = await runCode(pool, `console.log('x')`, { sourceMap });
      expect([end.outcome, messages]).toEqual(['completed', ['x']]);
    },
  );

  it('leaving something for the next run', async () => {
    await runCode(pool, `globalThis.left = 'secret'; Array.prototype.left = 'secret'`);
    const { messages } = await runCode(pool, `console.log(typeof left, typeof [].left)`);
    expect(messages).toEqual(['undefined undefined']);
  });
});

/** Hosts on this machine, or in a network that is not public. */
const refusedHosts = [
  '127.0.0.1',
  'localhost',
  'LOCALHOST',
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  '127.1',
  '0',
  '0.0.0.0',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[2002:7f00:1::]',
  '[fe80::1]',
  '[fd00::1]',
  '[fec0::1]',
  '[ff02::1]',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '192.0.2.1',
  '198.18.0.1',
  '%31%32%37.0.0.1',
  '１２７.0.0.1',
  '127。0。0。1',
];

describe('fetch of hostile code', () => {
  it('reaches no local or private address in any spelling, and names the setting', async () => {
    const code = `for (const host of ${JSON.stringify(refusedHosts)}) await fetch('http://' + host + ':${port}/').then((r) => console.log('REACHED', host, r.status), (e) => console.log(e.message))`;
    const { messages } = await runCode(pool, code);
    expect(messages).toHaveLength(refusedHosts.length);
    for (const message of messages) expect(message).toMatch(/was refused: .*PHALANX_ALLOW_PRIVATE_FETCH/);
    expect(hits).toBe(0);
  });

  it.each(['file:///etc/passwd', 'data:text/plain,x', 'ftp://example.com/', 'blob:x', 'unix:/run/x'])(
    'does not speak the protocol of %s',
    async (url) => {
      const { messages } = await runCode(pool, `await fetch('${url}').catch((e) => console.log(e.message))`);
      expect(messages[0]).toMatch(/fetch speaks http and https, not |Failed to parse URL/);
    },
  );
});
