import { openConfinement } from '@phalanx/confinement';
import { describe, expect, it } from 'vitest';
import { runInChild } from '../run/sandbox-run.ts';
import type { SandboxBundles } from './bundles.ts';
import { spawnSandboxChild } from './confined-child.ts';

const confinement = await openConfinement();
const logRate = { linesPerSecond: 2000, burstLines: 2000, bytesPerSecond: 1e6, burstBytes: 1e6 };

/** Runs a foreign program in a child, to test what a compromised child could do. */
function runProgram(main: string, durationMs = 120_000) {
  const bundles: SandboxBundles = {
    program: `const { Socket } = require('node:net'); const out = new Socket({ fd: 1 });
      const frame = (text) => { const body = Buffer.from(text); const head = Buffer.alloc(4); head.writeUInt32BE(body.length); return Buffer.concat([head, body]) };
      const say = (message) => out.write(frame(JSON.stringify(message)));
      exports.main = async () => { ${main} };`,
    snapshot: new Uint8Array(),
    isolatedVmPath: 'node:path',
    readablePaths: [],
  };
  const calls: string[] = [];
  const child = spawnSandboxChild(
    { bundles, confinement, serveFetches: async (socket) => void socket.destroy() },
    64,
  );
  const run = runInChild(child, {
    job: {
      runId: 'r',
      bundle: { code: '', sourceMap: null },
      arguments: { automationParameters: {}, jobVariables: {} },
      limits: { memoryMb: 64, cpuMs: 5000, durationMs },
    },
    hooks: {
      onLog: (entries) => void calls.push(...entries.map(({ message }) => message)),
      onCall: async (name) => void calls.push(name) as never,
      onResult: (json) => void calls.push(json),
    },
    command: {
      type: 'job',
      code: '',
      sourceMap: null,
      argumentsJson: '{}',
      cpuMs: 1,
      logRate,
    },
    log: undefined,
  });
  return { run, calls };
}

const hostile: [name: string, main: string][] = [
  ['says a frame longer than allowed', `out.write(Buffer.from([0x7f, 0, 0, 0]))`],
  ['says what is no JSON', `out.write(frame('{'))`],
  ['says a message of no known type', `say({ type: 'launch_missiles' })`],
  [
    'says a log entry of the wrong shape',
    `say({ type: 'log', entry: { timestamp: 'now', level: 'fatal', lineNumber: -1, message: 5 } })`,
  ],
  [
    'says a message longer than a log entry may be',
    `say({ type: 'log', entry: { timestamp: 1, level: 'log', path: null, lineNumber: 0, message: 'x'.repeat(70_000) } })`,
  ],
  ['says a result that is no JSON', `say({ type: 'result', json: '{' })`],
  ['ends in half a frame', `out.end(Buffer.from([0, 0, 0, 9, 1]), () => process.exit(0))`],
  ['exits at once', `process.exit(3)`],
  ['claims to have been stopped', `say({ type: 'ended', outcome: 'stopped', error: null })`],
];

describe('a child that was taken over', () => {
  it.each(hostile)('fails its run when it %s', async (_, main) => {
    const { run } = runProgram(main);
    await run.started;
    expect(await run.ended).toMatchObject({ outcome: 'failed', error: { code: 'sandbox_crashed' } });
  });

  it('may not call what the table does not list', async () => {
    const { run, calls } = runProgram(
      `say({ type: 'call', id: 1, name: 'shell.exec', params: { command: 'reboot' } }); say({ type: 'call', id: 2, name: 'input.tap', params: { x: 1e9, y: 1 } }); say({ type: 'ended', outcome: 'completed', error: null })`,
    );
    expect(await run.ended).toEqual({ outcome: 'completed', error: null });
    expect(calls).toEqual([]);
  });

  it('is held to the log rate by the host too', async () => {
    const { run, calls } = runProgram(
      `const line = frame(JSON.stringify({ type: 'log', entry: { timestamp: 1, level: 'log', path: null, lineNumber: 0, message: 'x' } })); const flood = () => { while (out.write(line)); out.once('drain', flood) }; flood()`,
      1000,
    );
    run.begin();
    expect((await run.ended).outcome).toBe('timed_out');
    expect(calls.length).toBeLessThan(20_000);
  });

  it.each([
    ['files', `require('node:fs').readFileSync('/etc/hostname')`],
    ['folders', `require('node:fs').readdirSync('/')`],
    ['files to write', `require('node:fs').writeFileSync('/tmp/x', '')`],
    ['processes', `require('node:child_process').execSync('id')`],
    ['workers', `new (require('node:worker_threads').Worker)('1', { eval: true })`],
  ])('gets no %s', async (_, attempt) => {
    const { run, calls } = runProgram(
      `let got; try { ${attempt}; got = 'got it' } catch (error) { got = error.code } say({ type: 'log', entry: { timestamp: 1, level: 'log', path: null, lineNumber: 0, message: got } }); say({ type: 'ended', outcome: 'completed', error: null })`,
    );
    await run.ended;
    expect(calls).toEqual(['ERR_ACCESS_DENIED']);
  });
});
