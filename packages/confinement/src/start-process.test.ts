import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';

import { endingWithCaller } from './confinement.ts';
import { startProcess } from './start-process.ts';
import { whenClosed, type StartedProcess } from './started-process.ts';

const options = { environment: { PATH: '/usr/bin:/bin', GIVEN: 'a=b' }, folder: tmpdir(), streamCount: 3 };
const started: StartedProcess[] = [];
afterEach(() => {
  for (const one of started.splice(0)) one.signal('SIGKILL');
});

async function sh(script: string, more: Partial<typeof options> = {}): Promise<StartedProcess> {
  const start = endingWithCaller({ program: '/bin/sh', args: ['-c', script] });
  const process_ = await startProcess(start, { ...options, ...more });
  started.push(process_);
  return process_;
}

const parentOf = (pid: number): number =>
  Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
/** Whether the process is alive. A zombie counts as dead, because the first process may take a moment to reap it. */
const lives = (pid: number): boolean =>
  existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
const commandOf = (pid: number): string => readFileSync(`/proc/${pid}/cmdline`, 'utf8');

describe('a program', () => {
  it('gets its input, environment and folder, and its output and end are told', async () => {
    const child = await sh('pwd; echo "$GIVEN"; env | wc -l; cat; echo bad >&2; exit 3');
    const [stdin, stdout, stderr] = child.streams;
    stdin.end('of the caller\n');
    const [output, errors, exit] = await Promise.all([text(stdout), text(stderr), whenClosed(child)]);
    expect(output).toMatch(new RegExp(`^${realpathSync(tmpdir())}\na=b\n\\d\nof the caller\n$`));
    expect([errors, exit]).toEqual(['bad\n', { exitCode: 3, signal: null }]);
  });

  it('has descriptors of its own beyond these, in both directions', async () => {
    const child = await sh('read line <&3; echo "heard $line" >&4', { streamCount: 5 });
    const [, , , toIt, fromIt] = child.streams;
    toIt?.write('words\n');
    expect(fromIt && (await text(fromIt))).toBe('heard words\n');
  });

  it('passes on megabytes in both directions', async () => {
    const child = await sh('exec cat');
    const sent = Buffer.alloc(8_000_000, 'phalanx ');
    child.streams[0].end(sent);
    expect((await text(child.streams[1])).length).toBe(sent.length);
  });

  it('may end before it has read what it was sent, also on other descriptors', async () => {
    const child = await sh('read line; exit 4', { streamCount: 4 });
    const closed = whenClosed(child);
    for (const stream of child.streams) stream.resume();
    child.streams[3]?.write(Buffer.alloc(100_000));
    child.streams[0].write('go\n');
    expect(await closed).toEqual({ exitCode: 4, signal: null });
  });

  it('is ended by a signal, alone or with its group', async () => {
    const alone = await sh('exec sleep 1000');
    alone.signal('SIGTERM');
    expect(await alone.exited).toEqual({ exitCode: null, signal: 'SIGTERM' });
    const group = await sh('sleep 1000 & echo $!; wait');
    const [printed] = (await once(group.streams[1], 'data')) as [Buffer];
    group.signalGroup('SIGKILL');
    await group.exited;
    await expect.poll(() => lives(Number(printed.toString()))).toBe(false);
    expect(() => group.signal('SIGKILL')).not.toThrow();
  });

  it.each([
    ['it is missing', { program: '/nowhere/program', args: [] }, {}],
    ['its folder is missing', { program: '/bin/true', args: [] }, { folder: '/nowhere' }],
    ['its launcher is missing', { program: '/nowhere/launcher', args: [], makesGroup: true }, {}],
    [
      'the folder of its launcher is missing',
      endingWithCaller({ program: '/bin/true', args: [] }),
      { folder: '/nowhere' },
    ],
  ])('is said not to start when %s', async (_, start, more) => {
    await expect(startProcess(start, { ...options, ...more })).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('is one of many at once, each with its own streams', async () => {
    const numbers = Array.from({ length: 50 }, (_, at) => at);
    const outputs = await Promise.all(
      numbers.map(async (at) => Number(await text((await sh(`echo ${at}`)).streams[1]))),
    );
    expect(outputs).toEqual(numbers);
  });
});

describe.runIf(process.platform === 'linux')('the process that starts others', () => {
  it('has a program of this process as its child, and is replaced when it has died', async () => {
    const first = await sh('exec sleep 1000');
    const starter = parentOf(first.pid);
    expect(commandOf(starter)).toContain('--starter');
    process.kill(starter, 'SIGKILL');
    expect(await first.exited).toEqual({ exitCode: null, signal: 'SIGKILL' });
    await expect.poll(() => lives(first.pid)).toBe(false);
    const next = await sh('exec sleep 1000');
    expect(commandOf(parentOf(next.pid))).toContain('--starter');
    expect(parentOf(next.pid)).not.toBe(starter);
  });

  it('takes no stream of a stranger', async () => {
    const { pid } = await sh('exec sleep 1000');
    const name = /phalanx-[0-9a-f]+/.exec(commandOf(parentOf(pid)))?.[0] ?? '';
    const stranger = connect({ path: `\0${name}` });
    stranger.write(Buffer.alloc(24));
    stranger.resume();
    await once(stranger, 'close');
    expect(lives(pid)).toBe(true);
  });

  it('ends with the process that it is for, and all that it has started with it', async () => {
    const code = `const { startProcess, endingWithCaller } = await import(${JSON.stringify(import.meta.resolve('./index.ts'))});
      const start = endingWithCaller({ program: '/bin/sleep', args: ['1000'] });
      const { pid } = await startProcess(start, { environment: {}, folder: '/', streamCount: 3 });
      console.log(JSON.stringify({ pid }));`;
    const caller = spawn(process.execPath, ['--input-type=module', '--eval', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(caller.stdout, 'data')) as [Buffer];
    const { pid } = JSON.parse(line.toString()) as { pid: number };
    const starter = parentOf(pid);
    caller.kill('SIGKILL');
    await expect.poll(() => [pid, starter].filter(lives)).toEqual([]);
  });

  it('lets its caller end by itself when nothing that was started is left', () => {
    const code = `const { startProcess, endingWithCaller } = await import(${JSON.stringify(import.meta.resolve('./index.ts'))});
      const { exited } = await startProcess(endingWithCaller({ program: '/bin/true', args: [] }), { environment: {}, folder: '/', streamCount: 3 });
      console.log(JSON.stringify(await exited));`;
    const args = ['--input-type=module', '--eval', code];
    expect(execFileSync(process.execPath, args, { encoding: 'utf8', timeout: 20_000 })).toBe(
      '{"exitCode":0,"signal":null}\n',
    );
  });
});
