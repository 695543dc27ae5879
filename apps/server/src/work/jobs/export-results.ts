import type { Task } from '@phalanx/protocol';
import { csvLine } from '../../http/requests/replies/csv.ts';
import { TimeSlice } from '../../kernel/limits/time-slice.ts';

const tasksPerPage = 50;
/**
 * Maximum number of columns per object. More fields become one column with JSON, because columns times rows must be
 * bounded.
 */
const maxFields = 200;

const fixed = ['number', 'status', 'device_id', 'run_id', 'attempts', 'error'] as const;

/**
 * Reads the tasks after an ID, in order. Pages are small, because each task may have an input and a result of many
 * kilobytes.
 */
export type ReadTasks = (after: string | undefined, limit: number) => Promise<readonly Task[]>;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Collects the field names of objects, in the order of their first appearance. */
class Fields {
  readonly #names = new Set<string>();
  #hasOther = false;

  add(value: unknown): void {
    if (!isObject(value)) this.#hasOther ||= value !== null;
    else for (const name in value) if (this.#names.size <= maxFields) this.#names.add(name);
  }

  get #areMany(): boolean {
    return this.#names.size > maxFields;
  }

  headOf(what: string): string[] {
    const names = this.#areMany ? [] : [...this.#names].map((name) => `${what}.${name}`);
    return this.#areMany || this.#hasOther ? [...names, what] : names;
  }

  cellsOf(value: unknown): unknown[] {
    if (this.#areMany) return [value];
    const cells = [...this.#names].map((name) => (isObject(value) ? value[name] : undefined));
    return this.#hasOther ? [...cells, isObject(value) ? undefined : value] : cells;
  }
}

/** Exports the inputs and results of tasks as CSV, with a column for each field of them. */
export async function* resultsAsCsv(read: ReadTasks): AsyncGenerator<string> {
  const [inputs, results] = [new Fields(), new Fields()];
  for await (const { input, result } of eachTask(read)) {
    inputs.add(input);
    results.add(result);
  }
  yield csvLine([...fixed, ...inputs.headOf('input'), ...results.headOf('result')]);
  for await (const task of eachTask(read)) {
    const { number, status, device_id, run_id, attempts, error, input, result } = task;
    const own = [number, status, device_id, run_id, attempts.length, error?.message];
    yield csvLine([...own, ...inputs.cellsOf(input), ...results.cellsOf(result)]);
  }
}

export async function* resultsAsLines(read: ReadTasks): AsyncGenerator<string> {
  for await (const task of eachTask(read)) yield `${JSON.stringify(task)}\n`;
}

async function* eachTask(read: ReadTasks): AsyncGenerator<Task> {
  const slice = new TimeSlice();
  for (let after: string | undefined; ;) {
    const tasks = await read(after, tasksPerPage);
    for (const task of tasks) {
      yield task;
      if (slice.isOver) await slice.next();
    }
    after = tasks.at(-1)?.id;
    if (after === undefined || tasks.length < tasksPerPage) return;
  }
}
