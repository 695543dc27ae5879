import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { getPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { openConfinement } from '@phalanx/confinement';
import { describe, expect, it } from 'vitest';
import { buildSandboxBundles } from '../process/bundles.ts';
import { runCode, startCode, testMemoryMb } from '../testing/code-runs.ts';
import { until } from '../../testing/until.ts';
import { createSandboxPool, maxStarting, WarmChildren } from './sandbox-pool.ts';

const options = { size: 2, memoryMb: testMemoryMb, fetchPolicy: { allowPrivateAddresses: false } };

/** Returns the child processes of `pid`, except zombies. */
async function childrenOf(pid: number): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const stats = await Promise.all(pids.map((one) => readFile(`/proc/${one}/stat`, 'utf8').catch(() => '')));
  return stats.flatMap((stat) => {
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(parent) === pid && state !== 'Z' ? [Number.parseInt(stat, 10)] : [];
  });
}

async function childrenWith(pid: number, word: string): Promise<number[]> {
  const children = await childrenOf(pid);
  const commands = await Promise.all(
    children.map((one) => readFile(`/proc/${one}/cmdline`, 'utf8').catch(() => '')),
  );
  return children.filter((_, index) => commands[index]?.includes(word));
}

/** Returns the sandbox processes of `pid`, which it or its starter has started. */
async function sandboxesOf(pid: number): Promise<number[]> {
  const parents = [pid, ...(await childrenWith(pid, '--starter'))];
  return (await Promise.all(parents.map((one) => childrenWith(one, '--permission')))).flat();
}

describe.runIf(process.platform === 'linux')('the pool', () => {
  it('fills up again after a job and after an idle child has died, and ends all with close', async () => {
    const pool = await createSandboxPool(options);
    const first = await sandboxesOf(process.pid);
    expect(first).toHaveLength(2);

    await runCode(pool, `console.log(1)`);
    const ours = () => sandboxesOf(process.pid);
    await until('two children', ours, (now) => now.length === 2);

    const [victim] = await sandboxesOf(process.pid);
    if (victim !== undefined) process.kill(victim, 'SIGKILL');
    await until(
      'two others',
      ours,
      (now) => now.length === 2 && victim !== undefined && !now.includes(victim),
    );
    expect((await runCode(pool, `console.log(1)`)).messages).toEqual(['1']);

    await pool.close();
    expect(await sandboxesOf(process.pid)).toEqual([]);
  });

  it('gives a run the child that is starting, instead of starting one more beside it', async () => {
    const ground = {
      bundles: await buildSandboxBundles(),
      confinement: await openConfinement(),
      serveFetches: async () => undefined,
    };
    const children = new WarmChildren(ground, { size: 1, memoryMb: testMemoryMb, log: undefined });
    const filling = children.fill();
    const [starting] = await until(
      'a child',
      () => sandboxesOf(process.pid),
      (now) => now.length === 1,
    );
    expect(children.take(testMemoryMb).pid).toBe(starting);
    await children.close();
    await filling;
  });

  it('starts a few at a time, in order, and none that was ended before its turn', async () => {
    const ground = {
      bundles: await buildSandboxBundles(),
      confinement: await openConfinement(),
      serveFetches: async () => undefined,
    };
    const children = new WarmChildren(ground, { size: 0, memoryMb: testMemoryMb, log: undefined });
    const taken = Array.from({ length: maxStarting * 3 }, () => children.take(testMemoryMb));
    let ready = 0;
    let most = 0;
    let areInOrder = true;
    for (const child of taken)
      child.onReports = async () => {
        const started = taken.flatMap(({ pid }, index) => (pid === undefined ? [] : [index]));
        areInOrder &&= started.every((index, place) => index === place);
        most = Math.max(most, started.length - ready);
        ready += 1;
      };
    const late = taken.pop();
    late?.kill();
    expect((await late?.exited)?.startError).toContain('before its turn');
    await until(
      'the others',
      async () => ready,
      (count) => count === taken.length,
    );
    expect(most).toBeLessThanOrEqual(maxStarting);
    expect(areInOrder).toBe(true);
    expect(late?.pid).toBeUndefined();
    await children.close();
  });

  it('gives children an empty environment, a lower priority and nothing of the disk', async () => {
    const pool = await createSandboxPool(options);
    const [pid] = await sandboxesOf(process.pid);
    expect(await readFile(`/proc/${pid}/environ`, 'utf8')).toBe('');
    expect(getPriority(pid)).toBeGreaterThanOrEqual(5);
    const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8');
    expect(commandLine.match(/--allow-[a-z-]+/g)?.filter((flag) => !/fs-read|addons/.test(flag))).toEqual([]);
    await pool.close();
  });

  it('lets everything else go before code that runs', async () => {
    const pool = await createSandboxPool({ ...options, size: 0 });
    const run = startCode(pool, `console.log('go'); while (true) {}`);
    await run.logged('go');
    const [pid = 0] = await sandboxesOf(process.pid);
    const threads = (await readdir(`/proc/${pid}/task`)).map(Number);
    expect(Math.min(...threads.map((thread) => getPriority(thread)))).toBeGreaterThanOrEqual(10);
    await pool.close();
  });

  it('ends runs with close', async () => {
    const pool = await createSandboxPool({ ...options, size: 0 });
    const run = startCode(pool, `console.log('go'); while (true) {}`);
    await run.logged('go');
    await pool.close();
    expect((await run.ended).outcome).toBe('stopped');
    expect(() => startCode(pool, '')).toThrow('The sandbox pool is closed.');
  });

  it('leaves no child behind when the host is killed, even under an endless loop', async () => {
    const script = fileURLToPath(new URL('../testing/doomed-host.ts', import.meta.url));
    const host = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(host.stdout, 'data');
    const children = await until(
      'three children',
      () => sandboxesOf(host.pid ?? 0),
      (now) => now.length === 3,
    );
    host.kill('SIGKILL');
    const alive = async (): Promise<boolean[]> =>
      Promise.all(
        children.map((pid) =>
          readFile(`/proc/${pid}/stat`, 'utf8').then(
            (stat) => !/\) Z /.test(stat),
            () => false,
          ),
        ),
      );
    expect(await until('the end of all children', alive, (now) => !now.includes(true))).toHaveLength(3);
  });
});
