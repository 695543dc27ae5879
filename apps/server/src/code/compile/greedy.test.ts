import { readdirSync } from 'node:fs';
import { getPriority } from 'node:os';
import { afterEach, expect, test } from 'vitest';

import type { Compiler } from './compiler.ts';
import { createTestCompiler, filesOf, linesOf } from './testing/files-in-memory.ts';
import { listProcessesFromNow } from './testing/list-processes.ts';

const listProcesses = listProcessesFromNow();
let compiler: Compiler;
afterEach(async () => compiler.close());

const write = (userId: string): Promise<string[]> =>
  linesOf(
    compiler.compileFile(
      { ...filesOf(`project of ${userId}`, {}), userId },
      { path: 'main.ts', content: 'let a: string = 1;' },
    ),
  );

/** Lowest and highest priority of the threads of a process. */
function prioritiesOf(id: number): number[] {
  const all = readdirSync(`/proc/${id}/task`).map((thread) => getPriority(Number(thread)));
  return [Math.min(...all), Math.max(...all)];
}

/** Priority of every process that works on users' content (`Policy.nice`). */
const usual = [5, 5];
const last = [10, 10];

test('a process of whoever has had much lately goes last, and serves nobody else', async () => {
  compiler = await createTestCompiler({ processes: 2, isOverShare: (userId) => userId === 'greedy' });
  expect(await write('greedy')).toHaveLength(1);
  const [slow = 0] = listProcesses();
  expect(prioritiesOf(slow)).toEqual(last);
  expect(await write('modest')).toHaveLength(1);
  expect(await write('another')).toHaveLength(1);
  const [own = 0, ...more] = listProcesses().filter((id) => id !== slow);
  expect([prioritiesOf(own), more]).toEqual([usual, []]);
  expect(await write('greedy')).toHaveLength(1);
  expect(listProcesses()).toHaveLength(2);
  expect(prioritiesOf(own)).toEqual(usual);
});

test('where all processes go last, one makes room for who has had little', async () => {
  compiler = await createTestCompiler({ processes: 1, isOverShare: (userId) => userId === 'greedy' });
  await write('greedy');
  expect(await write('modest')).toHaveLength(1);
  expect(listProcesses().map(prioritiesOf)).toEqual([usual]);
  expect(await write('greedy')).toHaveLength(1);
  const [again = [0]] = listProcesses().map(prioritiesOf);
  expect(again).toEqual(last);
});
