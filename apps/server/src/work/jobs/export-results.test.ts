import type { Task } from '@phalanx/protocol';
import { expect, it } from 'vitest';

import { type ReadTasks, resultsAsCsv } from './export-results.ts';

const taskOf = (number: number, input: Task['input'], result: unknown): Task => ({
  id: String(number),
  number,
  parent_id: null,
  status: 'completed',
  input,
  result,
  error: null,
  run_id: null,
  device_id: null,
  due_at: null,
  attempts: [],
  ended_at: null,
});

const readerOf =
  (tasks: readonly Task[]): ReadTasks =>
  async (after, limit) =>
    tasks.filter(({ number }) => number > Number(after ?? 0)).slice(0, limit);

async function tableOf(tasks: readonly Task[]): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of resultsAsCsv(readerOf(tasks))) lines.push(line.trimEnd());
  return lines;
}

it('a table has a column for each field, and one more for results that are no objects', async () => {
  const tasks = [taskOf(1, { name: 'Ada' }, { price: 3 }), taskOf(2, { city: 'Ulm' }, 'sold, out')];
  expect(await tableOf(tasks)).toEqual([
    'number,status,device_id,run_id,attempts,error,input.name,input.city,result.price,result',
    '1,completed,,,0,,Ada,,3,',
    '2,completed,,,0,,,Ulm,,"sold, out"',
  ]);
});

it('results of very many fields are one column, so that no table ends the server', async () => {
  const fields = (at: number) => Object.fromEntries([0, 1, 2].map((one) => [`f${at}-${one}`, one]));
  const tasks = Array.from({ length: 1000 }, (_, at) => taskOf(at + 1, { name: `n${at}` }, fields(at)));
  const [head, first, ...others] = await tableOf(tasks);
  expect(head).toBe('number,status,device_id,run_id,attempts,error,input.name,result');
  expect(first).toBe('1,completed,,,0,,n0,"{""f0-0"":0,""f0-1"":1,""f0-2"":2}"');
  expect(others).toHaveLength(999);
});
