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

/** Expressions, each with the JSON value that it must return. */
const globals: [name: string, expression: string, expected: unknown][] = [
  [
    'setTimeout passes arguments',
    `await new Promise((r) => setTimeout((...a) => r(a), 1, 'a', 2))`,
    ['a', 2],
  ],
  [
    'clearTimeout',
    `await new Promise((r) => { const id = setTimeout(() => r('no'), 1); clearTimeout(id); clearTimeout(undefined); clearTimeout(999); setTimeout(r, 5, 'yes') })`,
    'yes',
  ],
  [
    'timers fire in the order of their times',
    `await new Promise((r) => { const o = []; setTimeout(() => { o.push(3); r(o) }, 2000); setTimeout(() => o.push(2), 1000); setImmediate(() => o.push(1)) })`,
    [1, 2, 3],
  ],
  [
    'clearInterval inside its callback',
    `await new Promise((r) => { let n = 0; const id = setInterval(() => { n++; clearInterval(id); setTimeout(() => r(n), 20) }, 1) })`,
    1,
  ],
  [
    'odd delays count as 1',
    `await Promise.all([NaN, -5, Infinity, 'x', undefined].map((d) => new Promise((r) => setTimeout(r, d, 1))))`,
    [1, 1, 1, 1, 1],
  ],
  [
    'queueMicrotask runs before timers',
    `await new Promise((r) => { const o = []; setTimeout(() => r(o), 0); queueMicrotask(() => o.push('micro')); o.push('sync') })`,
    ['sync', 'micro'],
  ],
  [
    'setTimeout wants a function',
    `(() => { try { setTimeout('code') } catch (e) { return e.name } })()`,
    'TypeError',
  ],
  [
    'URL',
    `(() => { const u = new URL('../b?x=1#h', 'https://user:pw@ex.com:8080/a/c'); return [u.href, u.origin, u.host, u.search, u.searchParams.get('x'), u.username] })()`,
    ['https://user:pw@ex.com:8080/b?x=1#h', 'https://ex.com:8080', 'ex.com:8080', '?x=1', '1', 'user'],
  ],
  [
    'URL.canParse and URL.parse',
    `[URL.canParse('http://x'), URL.canParse('x'), URL.parse('x'), URL.parse('/y', 'http://x').pathname]`,
    [true, false, null, '/y'],
  ],
  [
    'URLSearchParams',
    `(() => { const p = new URLSearchParams({ a: '1 2' }); p.append('b', 'ü&'); p.append('a', '3'); return [String(p), p.getAll('a'), p.has('b'), p.size] })()`,
    ['a=1+2&b=%C3%BC%26&a=3', ['1 2', '3'], true, 3],
  ],
  [
    'TextEncoder',
    `[...new TextEncoder().encode('aé€😀\\ud800')]`,
    [97, 195, 169, 226, 130, 172, 240, 159, 152, 128, 239, 191, 189],
  ],
  [
    'TextDecoder',
    `[new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 97, 0xff, 0xe2, 0x82])), new TextDecoder('utf-16le').decode(new Uint8Array([97, 0]))]`,
    ['a��', 'a'],
  ],
  [
    'TextDecoder in pieces',
    `(() => { const d = new TextDecoder(); return d.decode(new Uint8Array([0xe2, 0x82]), { stream: true }) + d.decode(new Uint8Array([0xac])) })()`,
    '€',
  ],
  [
    'TextDecoder fatal',
    `(() => { try { new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255])) } catch (e) { return e.name } })()`,
    'TypeError',
  ],
  ['atob and btoa', `[atob('aGkgPz8+Pg=='), btoa('\\xff\\x00a')]`, ['hi ??>>', '/wBh']],
  [
    'btoa of wide characters',
    `(() => { try { btoa('€') } catch (e) { return [e.name, e instanceof DOMException] } })()`,
    ['InvalidCharacterError', true],
  ],
  [
    'structuredClone',
    `(() => { const m = new Map([['d', new Date(5)], ['s', new Set([1n])], ['b', new Uint8Array([1])]]); m.set('self', m); const c = structuredClone(m); return [c !== m, c.get('self') === c, c.get('d').getTime(), String([...c.get('s')]), c.get('b')[0]] })()`,
    [true, true, 5, '1', 1],
  ],
  [
    'structuredClone of a function',
    `(() => { try { structuredClone(() => {}) } catch (e) { return e.name } })()`,
    'DataCloneError',
  ],
  [
    'crypto.randomUUID',
    `(() => { const a = Array.from({ length: 50 }, () => crypto.randomUUID()); return [new Set(a).size, a.every((u) => /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(u))] })()`,
    [50, true],
  ],
  [
    'crypto.getRandomValues',
    `(() => { const a = new Uint32Array(1000); return [crypto.getRandomValues(a) === a, new Set(a).size > 990] })()`,
    [true, true],
  ],
  [
    'crypto.getRandomValues of too much',
    `(() => { try { crypto.getRandomValues(new Uint8Array(70_000)) } catch (e) { return e.name } })()`,
    'QuotaExceededError',
  ],
  [
    'performance.now',
    `(() => { const a = performance.now(), b = performance.now(); return [a >= 0, a < 5000, b >= a, Math.abs(performance.timeOrigin + b - Date.now()) < 1000] })()`,
    [true, true, true, true],
  ],
  [
    'EventTarget',
    `(() => { const t = new EventTarget(), o = []; const f = (e) => o.push(e.type, e.target === t); t.addEventListener('a', f); t.addEventListener('a', f); t.addEventListener('a', { handleEvent() { o.push('object') } }, { once: true }); t.dispatchEvent(new Event('a')); t.removeEventListener('a', f); t.dispatchEvent(new Event('a')); return o })()`,
    ['a', true, 'object'],
  ],
  [
    'preventDefault',
    `(() => { const t = new EventTarget(); t.addEventListener('a', (e) => e.preventDefault()); return [t.dispatchEvent(new Event('a', { cancelable: true })), t.dispatchEvent(new Event('a'))] })()`,
    [false, true],
  ],
  [
    'AbortController',
    `(() => { const c = new AbortController(), o = []; c.signal.onabort = () => o.push('on'); c.signal.addEventListener('abort', () => o.push('heard')); c.abort(); c.abort(); return [o, c.signal.aborted, c.signal.reason.name, c.signal instanceof AbortSignal, c.signal instanceof EventTarget] })()`,
    [['on', 'heard'], true, 'AbortError', true, true],
  ],
  [
    'AbortSignal.timeout',
    `await new Promise((r) => { const s = AbortSignal.timeout(5); s.addEventListener('abort', () => r(s.reason.name)); setTimeout(() => {}, 100) })`,
    'TimeoutError',
  ],
  [
    'AbortSignal.any and abort',
    `(() => { const c = new AbortController(); const s = AbortSignal.any([c.signal]); c.abort('why'); return [s.reason, AbortSignal.any([AbortSignal.abort('x')]).reason, AbortSignal.abort().aborted] })()`,
    ['why', 'x', true],
  ],
  [
    'AbortSignal can’t be made',
    `(() => { try { new AbortSignal() } catch (e) { return e.name } })()`,
    'TypeError',
  ],
  [
    'DOMException',
    `(() => { const e = new DOMException('m', 'AbortError'); return [e.name, e.message, e.code, e instanceof Error] })()`,
    ['AbortError', 'm', 20, true],
  ],
  [
    'Headers',
    `(() => { const h = new Headers({ B: ' 2 ' }); h.append('a', '1'); h.append('A', '3'); h.append('set-cookie', 'x=1'); h.append('set-cookie', 'y=2'); return [[...h], h.get('b'), h.get('no'), h.getSetCookie()] })()`,
    [
      [
        ['a', '1, 3'],
        ['b', '2'],
        ['set-cookie', 'x=1'],
        ['set-cookie', 'y=2'],
      ],
      '2',
      null,
      ['x=1', 'y=2'],
    ],
  ],
  [
    'Headers with line breaks',
    `['a b', 'a\\n', '', 'ü'].map((n) => { try { new Headers([[n, 'v']]) } catch (e) { return e.name } }).concat(['a\\r\\nb: c', 'a\\0', '€'].map((v) => { try { new Headers({ x: v }) } catch (e) { return e.name } }))`,
    Array.from({ length: 7 }, () => 'TypeError'),
  ],
  [
    'Request',
    `(() => { const r = new Request('http://x/a b', { method: 'post', body: new URLSearchParams({ a: 1 }) }); return [r.url, r.method, r.headers.get('content-type'), r.bodyUsed] })()`,
    ['http://x/a%20b', 'POST', 'application/x-www-form-urlencoded;charset=UTF-8', false],
  ],
  [
    'Request refuses what can’t be sent',
    `[() => new Request('x'), () => new Request('http://u:p@x/'), () => new Request('http://x', { method: 'CONNECT' }), () => new Request('http://x', { body: 'x' }), () => new Request('http://x', { redirect: 'no' })].map((f) => { try { return f() } catch (e) { return e.name } })`,
    Array.from({ length: 5 }, () => 'TypeError'),
  ],
  [
    'Response',
    `await (async () => { const r = new Response('ü'); const c = r.clone(); return [await r.text(), r.bodyUsed, [...await c.bytes()], await c.text().catch((e) => e.name), r.ok, r.headers.get('content-type'), await Response.json({ a: 1 }).json()] })()`,
    ['ü', true, [195, 188], 'TypeError', true, 'text/plain;charset=UTF-8', { a: 1 }],
  ],
  [
    'crypto.subtle refuses what it has not, with one sentence',
    `await Promise.all([crypto.subtle.digest('MD5', new Uint8Array(1)), crypto.subtle.importKey('jwk', new Uint8Array(1), { name: 'HMAC', hash: 'SHA-256' }, true, ['sign']), crypto.subtle.importKey('raw', new Uint8Array(1), 'AES-GCM', true, ['encrypt']), crypto.subtle.encrypt(), crypto.subtle.generateKey()].map((p) => p.then(() => 'no error', (e) => e.name + ': ' + e.message)))`,
    ['digest "MD5"', 'key format "jwk"', 'algorithm "AES-GCM"', 'encrypt()', 'generateKey()'].map(
      (what) =>
        `NotSupportedError: crypto.subtle has no ${what} here: it has SHA-1, SHA-256, SHA-384 and SHA-512, and HMAC with "raw" keys.`,
    ),
  ],
  [
    'crypto.subtle keeps keys to their usages',
    `await (async () => { const k = await crypto.subtle.importKey('raw', new Uint8Array(4), { name: 'HMAC', hash: 'SHA-1' }, false, ['verify']); return Promise.all([crypto.subtle.sign('HMAC', k, new Uint8Array(1)), crypto.subtle.exportKey('raw', k), crypto.subtle.sign('HMAC', { ...k }, new Uint8Array(1)), crypto.subtle.digest('SHA-1', new Uint8Array(50 * 1024 * 1024 + 1))].map((p) => p.then(() => 'no error', (e) => e.name))); })()`,
    ['InvalidAccessError', 'InvalidAccessError', 'TypeError', 'OperationError'],
  ],
  [
    'a digest is of the bytes at the time of the call',
    `await (async () => { const b = new Uint8Array([1]); const p = crypto.subtle.digest('SHA-1', b); b[0] = 2; const other = new Uint8Array(await crypto.subtle.digest('SHA-1', new Uint8Array([1]))); return new Uint8Array(await p).join() === other.join() })()`,
    true,
  ],
  [
    'bodies that are no forms, and streams as bodies',
    `await Promise.all([new Response('x').formData(), new Response('x', { headers: { 'content-type': 'multipart/form-data; boundary=b' } }).formData(), new Response('--b\\r\\n\\r\\nx\\r\\n--b--', { headers: { 'content-type': 'multipart/form-data; boundary=b' } }).formData(), (async () => new Response(new Blob(['x']).stream()))()].map((p) => p.then(() => 'no error', (e) => e.name + ': ' + e.message)))`,
    [
      'TypeError: The body is no form: its content type is "text/plain;charset=UTF-8".',
      'TypeError: The form in the body has no end.',
      'TypeError: A part of the form in the body has no name.',
      'TypeError: A stream cannot be a body here: give its bytes, such as await response.bytes().',
    ],
  ],
  [
    'a stream has one reader at a time, and locks its body',
    `await (async () => { const r = new Response('x'); const reader = r.body.getReader(); const o = [r.body.locked, r.bodyUsed]; try { r.body.getReader() } catch (e) { o.push(e.name) } o.push(await r.text().catch((e) => e.name)); reader.releaseLock(); o.push(await r.text(), (await r.body.getReader().read()).done); return o })()`,
    [true, false, 'TypeError', 'TypeError', 'x', true],
  ],
  [
    'what stands on the global object',
    `['fetch', 'console', 'agent', 'ScreenshotRecord', 'AgentError', 'WaitTimeoutError', 'stopCurrentAutomation'].map((n) => [typeof globalThis[n], Object.keys(globalThis).includes(n)])`,
    [
      ['function', false],
      ['object', false],
      ['object', false],
      ['object', false],
      ['function', false],
      ['function', false],
      ['function', false],
    ],
  ],
  [
    'class names',
    `[Headers, Request, Response, AbortSignal, AbortController, EventTarget, Event, CustomEvent, Blob, File, FormData].map((c) => c.name + Object.prototype.toString.call(c.prototype))`,
    [
      'Headers',
      'Request',
      'Response',
      'AbortSignal',
      'AbortController',
      'EventTarget',
      'Event',
      'CustomEvent',
      'Blob',
      'File',
      'FormData',
    ].map((name) => `${name}[object ${name}]`),
  ],
  [
    'Intl and dates',
    `[new Intl.NumberFormat('de').format(1234.5), new Date(0).toISOString(), new Date(0).getTimezoneOffset()]`,
    ['1.234,5', '1970-01-01T00:00:00.000Z', 0],
  ],
];

describe('globals', () => {
  it('work as their standards say', async () => {
    const code = globals.map(([, expression]) => `console.log(JSON.stringify(${expression}));`).join('\n');
    const { end, messages } = await runCode(pool, code);
    expect(end).toEqual({ outcome: 'completed', error: null });
    expect(globals.map(([name], index) => [name, JSON.parse(messages[index] ?? '')])).toEqual(
      globals.map(([name, , expected]) => [name, expected]),
    );
  });
});
