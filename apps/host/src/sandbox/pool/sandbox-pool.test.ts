import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { runCode, startCode, testMemoryMb } from '../testing/code-runs.ts';
import { createSandboxPool, type SandboxPool } from './sandbox-pool.ts';

let pool: SandboxPool;
beforeAll(async () => {
  pool = await createSandboxPool({
    size: 2,
    memoryMb: testMemoryMb,
    fetchPolicy: { allowPrivateAddresses: false },
  });
});
afterAll(() => pool.close());

const completed = { outcome: 'completed', error: null };

describe('a run to its end', () => {
  it('completes and logs with time, level and line', async () => {
    const before = Date.now();
    const { end, logs } = await runCode(
      pool,
      `console.log('one');\nconsole.warn('two');\n\nconsole.error('three');`,
    );
    expect(end).toEqual(completed);
    expect(logs.map(({ level, lineNumber, message }) => [level, lineNumber, message])).toEqual([
      ['log', 1, 'one'],
      ['warn', 2, 'two'],
      ['error', 4, 'three'],
    ]);
    expect(logs[0]?.timestamp).toBeGreaterThanOrEqual(before);
  });

  it('may await at the top level', async () => {
    const { end, messages } = await runCode(
      pool,
      `const x = await new Promise((resolve) => setTimeout(resolve, 5, 'waited'));\nconsole.log(x);`,
    );
    expect([end, messages]).toEqual([completed, ['waited']]);
  });

  it('ends only when no timer waits any more, as in Node', async () => {
    const { end, messages } = await runCode(
      pool,
      `let n = 0; const id = setInterval(() => { console.log(++n); if (n === 3) clearInterval(id); }, 1); console.log('main');`,
    );
    expect([end, messages]).toEqual([completed, ['main', '1', '2', '3']]);
  });

  it('ends while the signal of AbortSignal.timeout still waits, as in Node', async () => {
    const { end } = await runCode(pool, `AbortSignal.timeout(60_000);`);
    expect(end).toEqual(completed);
  });

  it('gets its arguments unchanged', async () => {
    const automationParameters = { a: [1, null, { b: 'ü😀\u2028' }], ['__proto__']: 1 };
    const { messages } = await runCode(pool, `console.log(JSON.stringify(agent.arguments))`, {
      automationParameters,
      jobVariables: { x: true },
    });
    expect(messages).toEqual([JSON.stringify({ automationParameters, jobVariables: { x: true } })]);
  });

  it('does not run the first line before begin', async () => {
    const logs: string[] = [];
    const run = pool.start(
      {
        runId: 'r',
        bundle: { code: `console.log('first')`, sourceMap: null },
        arguments: { automationParameters: {}, jobVariables: {} },
        limits: { memoryMb: testMemoryMb, cpuMs: 5000, durationMs: 120_000 },
      },
      {
        onLog: (entries) => void logs.push(...entries.map(({ message }) => message)),
        onCall: () => Promise.reject(new Error('no phone')),
        onResult: () => {},
      },
    );
    await run.started;
    logs.push('started');
    run.begin();
    await run.ended;
    expect(logs).toEqual(['started', 'first']);
  });

  it('takes a job whose memory limit no idle child has', async () => {
    const { end, messages } = await runCode(pool, `console.log('own child')`, { limits: { memoryMb: 48 } });
    expect([end, messages]).toEqual([completed, ['own child']]);
  });

  it('ends at stopCurrentAutomation, and nothing after it runs', async () => {
    const { end, messages } = await runCode(
      pool,
      `setTimeout(() => console.log('timer'), 0);
       try { console.log('before'); agent.control.stopCurrentAutomation(); console.log('after'); }
       catch { console.log('catch'); } finally { console.log('finally'); }`,
    );
    expect([end, messages]).toEqual([completed, ['before']]);
  });
});

describe('an error nobody caught', () => {
  const failing: [name: string, code: string, message: string, line: number][] = [
    ['an error at the top level', `\nthrow new TypeError('boo')`, 'TypeError: boo', 2],
    ['an error in a timer', `setTimeout(() => {\n throw new Error('late') }, 1)`, 'Error: late', 2],
    ['an error in a microtask', `queueMicrotask(() => { throw new Error('micro') })`, 'Error: micro', 1],
    [
      'an error in an event listener',
      `const t = new EventTarget(); t.addEventListener('x', () => { throw new Error('heard') }); t.dispatchEvent(new Event('x'))`,
      'Error: heard',
      1,
    ],
    [
      'an unhandled rejection',
      `Promise.reject(new RangeError('lost')); await new Promise(() => setTimeout(() => {}, 9000))`,
      'RangeError: lost',
      1,
    ],
    [
      'an unhandled rejection of an async function',
      `(async () => { await null;\nthrow new Error('inner') })()`,
      'Error: inner',
      2,
    ],
    [
      'an unhandled rejection in a timer',
      `setTimeout(() => { Promise.reject(new Error('t')) }, 1)`,
      'Error: t',
      1,
    ],
    ['a thrown number', `throw 42`, '42', 0],
    ['a thrown null', `throw null`, 'null', 0],
    ['a thrown undefined', `throw undefined`, 'undefined', 0],
    ['a thrown symbol', `throw Symbol('s')`, 'Symbol(s)', 0],
    ['a thrown string', `throw 'text'`, `'text'`, 0],
    ['a rejected number', `Promise.reject(42)`, '42', 0],
    [
      'a rejected object',
      `Promise.reject({ a: 1 })`,
      'A promise was rejected with an object that is not an Error, and nothing handled it.',
      0,
    ],
    [
      'an error whose getters throw',
      `const e = new Error('x'); for (const k of ['message', 'stack', 'name']) Object.defineProperty(e, k, { get() { throw e } }); throw e`,
      'a value that cannot be shown',
      0,
    ],
    [
      'a proxy whose traps throw',
      `throw new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 2 }, ownKeys() { throw 3 } })`,
      'a value that cannot be shown',
      0,
    ],
    [
      'a revoked proxy',
      `const r = Proxy.revocable({}, {}); r.revoke(); throw r.proxy`,
      'a value that cannot be shown',
      0,
    ],
    ['code that does not parse', `let x = ;`, `SyntaxError: Unexpected token ';' [main.js:1:9]`, 1],
  ];

  it.each(failing)('%s fails the run and is logged', async (_, code, message, line) => {
    const { end, logs } = await runCode(pool, code);
    expect(end).toMatchObject({ outcome: 'failed', error: { code: 'uncaught_error', message } });
    expect(logs).toHaveLength(1);
    expect(logs[0]).toMatchObject({ level: 'error', lineNumber: line });
    expect(logs[0]?.message).toMatch(/^Uncaught /);
  });

  it('is logged with causes and fields, and without frames that are not the user’s', async () => {
    const { logs } = await runCode(
      pool,
      `class MyError extends Error { extra = 5 }\nfunction inner() { throw new MyError('outer', { cause: new Error('inner') }) }\ninner();`,
    );
    expect(logs[0]?.message.split('\n')).toEqual([
      'Uncaught MyError: outer',
      '    at inner (main.js:2:26)',
      '    at main.js:3:1 {',
      '  extra: 5,',
      '  [cause]: Error: inner',
      '      at inner (main.js:2:56)',
      '      at main.js:3:1',
      '}',
    ]);
  });

  it('may have a message of megabytes and a cause that leads to itself', async () => {
    const { end, logs } = await runCode(
      pool,
      `const e = new Error('m'.repeat(5_000_000)); e.cause = e; throw e`,
    );
    expect(end.error?.message.length).toBeLessThanOrEqual(4000);
    expect(logs[0]?.message.length).toBeLessThanOrEqual(65_536);
  });

  it('is none when a rejection is handled in the same turn', async () => {
    const { end } = await runCode(
      pool,
      `const p = Promise.reject(new Error('x')); await null; p.catch(() => {}); const q = Promise.reject(1); await q.catch(() => {});`,
    );
    expect(end).toEqual(completed);
  });
});

describe('calls of the agent', () => {
  it('bring their parameters to the host and its results back', async () => {
    const seen: unknown[] = [];
    const { end, messages } = await runCode(
      pool,
      `await agent.actions.tap(1.4, 2.6);\nconsole.log(await agent.actions.currentApp());`,
      {
        onCall: async (name, params) => {
          seen.push([name, params]);
          return { packageName: 'com.example', activity: null } as never;
        },
      },
    );
    expect(end).toEqual(completed);
    expect(seen).toEqual([
      ['input.tap', { x: 1, y: 3 }],
      ['app.current', {}],
    ]);
    expect(messages).toEqual([`{ packageName: 'com.example', activity: null }`]);
  });

  it('reject with the code of the host’s error and the user’s own line', async () => {
    const { messages } = await runCode(
      pool,
      `try {\n  await agent.actions.back();\n} catch (error) { console.log(error instanceof AgentError, error.code, error.message); console.log(error.stack) }`,
      {
        onCall: () =>
          Promise.reject(Object.assign(new Error('The phone is gone.'), { code: 'device_offline' })),
      },
    );
    expect(messages[0]).toBe('true device_offline The phone is gone.');
    expect(messages[1]).toMatch(/^AgentError: The phone is gone\.\n {4}at main\.js:2:23$/);
  });

  it('with parameters that do not fit never reach the host', async () => {
    let called = 0;
    const { messages } = await runCode(
      pool,
      `for (const act of [() => agent.actions.tap(-5, 2), () => agent.actions.launchApp('; reboot'), () => agent.actions.tap(NaN, 1), () => agent.actions.writeText('x'.repeat(20_000)), () => agent.actions.writeText('x'.repeat(9_000_000)), () => agent.actions.inputKey('NO_KEY')])
         await act().catch((error) => console.log(error.name))`,
      { onCall: async () => void (called += 1) as never },
    );
    expect(messages).toEqual([
      'AgentError',
      'AgentError',
      'TypeError',
      'AgentError',
      'RangeError',
      'TypeError',
    ]);
    expect(called).toBe(0);
  });

  it('are given up with their signal, and reject with its reason before the host has answered', async () => {
    const aborted: unknown[] = [];
    const { end, messages } = await runCode(
      pool,
      `const controller = new AbortController();
       setTimeout(() => controller.abort('no longer'), 50);
       await agent.actions.hold(1, 1, 60_000, { signal: controller.signal }).catch((reason) => console.log(reason));
       await agent.shell('sleep 60', { signal: AbortSignal.timeout(50) }).catch(({ name }) => console.log(name));
       await agent.actions.launchApp('a.b', controller).catch((reason) => console.log(reason));
       console.log(await agent.actions.currentApp());`,
      {
        onCall: async (name, _params, signal) => {
          if (name === 'app.current') return 'the next call' as never;
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
          aborted.push(name);
          return undefined as never;
        },
      },
    );
    expect(end).toEqual(completed);
    expect(messages).toEqual(['no longer', 'TimeoutError', 'no longer', 'the next call']);
    expect(aborted).toEqual(['input.longPress', 'phone.shell']);
  });

  it('are aborted when the run ends', async () => {
    const aborted = Promise.withResolvers<unknown>();
    const asked = Promise.withResolvers<void>();
    const run = startCode(pool, `await agent.actions.home();`, {
      onCall: (_name, _params, signal) => {
        signal.addEventListener('abort', () => aborted.resolve(signal.reason));
        asked.resolve();
        return aborted.promise as never;
      },
    });
    await asked.promise;
    run.stop();
    expect(await run.ended).toEqual({ outcome: 'stopped', error: null });
    expect(await aborted.promise).toMatchObject({ message: 'The run has ended.' });
  });
});
