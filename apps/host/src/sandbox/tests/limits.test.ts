import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createSandboxPool, type SandboxPool } from '../pool/sandbox-pool.ts';
import { runCode, startCode, testMemoryMb, type TestRun } from '../testing/code-runs.ts';

let pool: SandboxPool;
beforeAll(async () => {
  pool = await createSandboxPool({
    size: 2,
    memoryMb: testMemoryMb,
    fetchPolicy: { allowPrivateAddresses: false },
    logRate: {
      linesPerSecond: 500,
      burstLines: 1000,
      bytesPerSecond: 1024 * 1024,
      burstBytes: 2 * 1024 * 1024,
    },
  });
});
afterAll(() => pool.close());

const endless: [name: string, code: string][] = [
  ['an endless loop', `console.log('go'); while (true) {}`],
  ['an endless loop in a timer', `setTimeout(() => { console.log('go'); for (;;) {} }, 1)`],
  [
    'an endless loop that catches everything',
    `console.log('go'); for (;;) { try { for (;;) {} } finally { continue } }`,
  ],
  ['a storm of microtasks', `console.log('go'); const storm = () => Promise.resolve().then(storm); storm()`],
  [
    'a regular expression that backtracks for ever',
    `console.log('go'); /^(a+)+$/.test('a'.repeat(60) + 'b')`,
  ],
  [
    'an endless getter under console.log',
    `console.log('go'); console.log({ get [Symbol.toStringTag]() { for (;;) {} } })`,
  ],
  ['a wait for ever', `console.log('go'); setTimeout(() => {}, 2 ** 30)`],
  ['an endless log loop', `console.log('go'); for (;;) console.log('again')`],
];

describe('a stop', () => {
  it.each(endless)('ends %s', async (_, code) => {
    const run = startCode(pool, code);
    await run.logged('go');
    run.stop();
    expect(await run.ended).toEqual({ outcome: 'stopped', error: null });
  });

  it('before begin ends the run without its first line', async () => {
    const run = startCode(pool, `console.log('never')`);
    run.stop();
    expect(await run.ended).toEqual({ outcome: 'stopped', error: null });
    expect(run.logs).toEqual([]);
  });

  it('after the end changes nothing', async () => {
    const run = startCode(pool, `console.log('x')`);
    const end = await run.ended;
    run.stop();
    expect([end.outcome, (await run.ended).outcome]).toEqual(['completed', 'completed']);
  });

  it('ends a run whose log is not taken', async () => {
    const first = Promise.withResolvers<void>();
    const run = startCode(
      pool,
      `for (let i = 0; i < 400; i++) console.log('x'.repeat(2000)); while (true) {}`,
      {
        onLog: () => {
          first.resolve();
          return new Promise(() => {});
        },
      },
    );
    await first.promise;
    run.stop();
    expect((await run.ended).outcome).toBe('stopped');
  });

  it('still delivers what was logged before', async () => {
    const run = startCode(
      pool,
      `for (let i = 0; i < 500; i++) console.log(i); console.log('go'); while (true) {}`,
    );
    await run.logged('go');
    run.stop();
    await run.ended;
    expect(run.logs).toHaveLength(501);
  });
});

const overLimit: [name: string, code: string, error: string][] = [
  ['arrays without end', `const a = []; for (;;) a.push(new Array(1000).fill(1.5))`, 'out_of_memory'],
  [
    'arrays without end in a timer',
    `setTimeout(() => { const a = []; for (;;) a.push(new Array(1000).fill(1.5)) })`,
    'out_of_memory',
  ],
  [
    'strings without end',
    `const a = []; for (let i = 0; ; i++) a.push(('x' + i).repeat(10_000).split(','))`,
    'out_of_memory',
  ],
  [
    'buffers without end',
    `const a = []; for (;;) a.push(new Uint8Array(1_000_000).fill(1))`,
    'out_of_memory',
  ],
  [
    'buffers that grow outside of the heap',
    `const a = []; for (;;) { const b = new ArrayBuffer(0, { maxByteLength: 2 ** 26 }); b.resize(2 ** 26); new Uint8Array(b).fill(1); a.push(b) }`,
    'out_of_memory',
  ],
  [
    'a fork of promises',
    `const fork = () => Promise.resolve().then(() => { fork(); fork() }); fork()`,
    'out_of_memory',
  ],
  ['processor time in a loop', `while (true) {}`, 'cpu_limit'],
  [
    'processor time in many small pieces',
    `setInterval(() => { for (let i = 0; i < 1e7; i++); }, 1)`,
    'cpu_limit',
  ],
];

describe('a run over its limit', () => {
  it.each(overLimit)('fails: %s', async (_, code, error) => {
    const { end } = await runCode(pool, code, { limits: { cpuMs: error === 'cpu_limit' ? 600 : 60_000 } });
    expect(end).toMatchObject({ outcome: 'failed', error: { code: error } });
    expect(end.error?.message).toContain(error === 'cpu_limit' ? '0.6 s' : '64 MB');
  });

  it('of time is timed out, with the limit in words', async () => {
    const { end } = await runCode(pool, `await new Promise(() => setInterval(() => {}, 10))`, {
      limits: { durationMs: 300 },
    });
    expect(end).toMatchObject({ outcome: 'timed_out', error: { code: 'timed_out' } });
    expect(end.error?.message).toContain('0.3 s');
  });

  it('of memory that no code can catch ends as a crash of that run alone', async () => {
    const neighbours = Array.from({ length: 8 }, (_, index) =>
      startCode(
        pool,
        `for (let i = 0; i < 40; i++) await new Promise((r) => setTimeout(r, 5)); console.log('alive ${index}')`,
      ),
    );
    await Promise.all(neighbours.map(({ started }) => started));
    const { end } = await runCode(pool, `'x'.repeat(2 ** 28).split('')`, {
      // High enough that the host's watch on resident memory does not trigger first.
      limits: { memoryMb: 1024 },
    });
    expect(end).toMatchObject({ outcome: 'failed', error: { code: 'sandbox_crashed' } });
    expect(end.error?.message).toContain('Only this run was ended.');
    const results = await Promise.all(
      neighbours.map(async (run: TestRun) => [(await run.ended).outcome, run.logs]),
    );
    expect(results).toEqual(
      neighbours.map((_, index) => ['completed', [expect.objectContaining({ message: `alive ${index}` })]]),
    );
  });

  it.each([
    ['timers', `for (;;) setTimeout(() => {}, 1e6)`, 'Too many timers: at most 10000'],
    [
      'agent calls',
      `for (;;) agent.actions.home().catch((e) => { if (e.name === 'RangeError') { console.log(e.message); agent.control.stopCurrentAutomation() } })
      && await null`,
      'Too many calls of agent',
    ],
    [
      'requests',
      `for (;;) { fetch('http://192.0.2.1/').catch((e) => { if (e.name === 'RangeError') { console.log(e.message); agent.control.stopCurrentAutomation() } }); await null }`,
      'Too many requests: at most 64',
    ],
  ])('of waiting %s gets a RangeError', async (kind, code, text) => {
    const { end, messages } = await runCode(pool, code, { onCall: () => new Promise(() => {}) });
    const told = kind === 'timers' ? end.error?.message : messages.join();
    expect(told).toContain(kind === 'agent calls' ? 'Too many calls: at most 64' : text);
  });
});

describe('the log', () => {
  it('of an endless loop is held to its rate and takes no memory', async () => {
    const batches: number[] = [];
    const run = startCode(pool, `for (let i = 0; ; i++) console.log('line ' + i)`, {
      limits: { durationMs: 1500 },
      onLog: (entries) => void batches.push(entries.length),
    });
    const end = await run.ended;
    expect(end.outcome).toBe('timed_out');
    expect(run.logs.length).toBeLessThanOrEqual(1000 + 500 * 2.5);
    expect(run.logs.map(({ message }) => message)).toEqual(run.logs.map((_, index) => `line ${index}`));
    expect(Math.max(...batches)).toBeLessThanOrEqual(1000);
  });

  it('stands still while onLog has not settled, and nothing is lost', async () => {
    const gate = Promise.withResolvers<void>();
    const first = Promise.withResolvers<void>();
    let calls = 0;
    const run = startCode(pool, `for (let i = 0; i < 900; i++) console.log('x'.repeat(1000) + i)`, {
      onLog: () => {
        calls += 1;
        first.resolve();
        return gate.promise;
      },
    });
    await first.promise;
    const callsWhileClosed = calls;
    gate.resolve();
    expect((await run.ended).outcome).toBe('completed');
    expect(callsWhileClosed).toBe(1);
    expect(run.logs.map(({ message }) => message.slice(1000))).toEqual(
      run.logs.map((_, index) => String(index)),
    );
    expect(run.logs).toHaveLength(900);
  });

  it('cuts a message at 64 KiB and says so', async () => {
    const { messages } = await runCode(pool, `console.log('ü'.repeat(100_000))`);
    expect(messages[0]).toHaveLength(65_536);
    expect(messages[0]).toMatch(/ü… \[cut: the message had 100000 characters, 65536 is the limit\]$/);
  });

  it('fails the run when the host can’t take it', async () => {
    const { end } = await runCode(pool, `console.log(1); while (true) {}`, {
      onLog: () => Promise.reject(new Error('disk full')),
    });
    expect(end).toMatchObject({ outcome: 'failed', error: { code: 'log_not_taken' } });
  });
});
