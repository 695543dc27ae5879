import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { afterEach, expect, test } from 'vitest';

import { lowerPriority } from './lower-priority.ts';

const started: ChildProcess[] = [];
// A leftover process would keep the tests from ending.
afterEach(async () => {
  for (const child of started.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }
});

/** Starts a process and its child. */
async function startTwo(): Promise<{ parent: ChildProcess; ids: number[] }> {
  const parent = spawn('/bin/sh', ['-c', 'sleep 1000 & echo $!; exec sleep 1000'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  started.push(parent);
  const [printed] = (await once(parent.stdout, 'data')) as [Buffer];
  const childId = Number(printed.toString());
  parent.once('exit', () => process.kill(childId, 'SIGKILL'));
  return { parent, ids: [parent.pid ?? 0, childId] };
}

test('what gives way does so with all that it has started', async () => {
  const { parent, ids } = await startTwo();
  expect(ids.map((id) => getPriority(id))).toEqual([0, 0]);
  lowerPriority(parent.pid ?? 0);
  expect(ids.map((id) => getPriority(id))).toEqual([10, 10]);
});

test.runIf(existsSync('/proc/self/autogroup'))(
  'who leads a session gives way with the session, and nobody else does',
  async () => {
    const niceOf = (pid: number): number =>
      Number(/nice (-?\d+)/.exec(readFileSync(`/proc/${pid}/autogroup`, 'utf8'))?.[1]);
    const leader = spawn('sleep', ['1000'], { detached: true });
    const member = spawn('sleep', ['1000']);
    started.push(leader, member);
    for (const { pid = 0 } of [leader, member]) lowerPriority(pid);
    await expect.poll(() => niceOf(leader.pid ?? 0)).toBe(19);
    expect(niceOf(member.pid ?? 0)).toBe(0);
  },
);

test('what has ended gives way to nothing', () => {
  expect(() => lowerPriority(2 ** 22)).not.toThrow();
  expect(getPriority()).toBe(0);
});
