import { type Job, type JobStatus, JsonObject, PhoneSettings, type Task } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';

import {
  countPhones,
  describePhones,
  listSelected,
  type PhoneChoice,
  type PhoneSources,
} from '../../runs/launches/choose-phones.ts';
import { csvLine } from '../../http/requests/replies/csv.ts';
import { readResult } from '../../runs/runs/run-result.ts';
import { TimeSlice } from '../../kernel/limits/time-slice.ts';
import { readRetries } from './retry-rule.ts';
import type { JobStore, StoredAttempt, StoredJob, StoredTask } from './store.ts';
import { readLimit } from '../../http/requests/kept-token.ts';
import { limitedSelector } from './work-access.ts';

const tasksPerPage = 50;
/** More of them are one column with JSON: columns times rows must not grow without a bound. */
const maxFields = 200;

const fixed = ['number', 'status', 'device_id', 'run_id', 'attempts', 'error'] as const;

export interface JobSources extends PhoneSources {
  readonly store: JobStore;
}

const statusOf = (row: StoredJob): JobStatus => {
  if (row.ended_at === null) return row.running > 0 ? 'running' : 'waiting';
  if (row.cancelled_at !== null) return 'cancelled';
  return row.failed > 0 ? 'failed' : row.completed > 0 ? 'completed' : 'cancelled';
};

/** With its place and the reason why it waits, which take some looking up. */
export async function jobView(sources: JobSources, row: StoredJob): Promise<Job> {
  const view = shortView(sources, row);
  if (row.waiting === 0) return view;
  return {
    ...view,
    place: await sources.store.countBefore(row),
    reason: await whyWaiting(sources, row),
  };
}

/** As lists have it. */
export function shortView({ access }: Pick<JobSources, 'access'>, row: StoredJob): Job {
  const { waiting, running, completed, failed, cancelled } = row;
  return {
    id: row.id,
    automation_id: row.project_id,
    project_name: row.project_name,
    user: { id: row.user_id, name: access.shares.nameOf(row.user_id) },
    status: statusOf(row),
    reason: row.problem,
    place: null,
    tasks: { waiting, running, completed, failed, cancelled },
    selector: row.selector,
    device_ids: row.device_ids === null ? null : idsOf(row.device_ids),
    count: row.count,
    priority: row.priority,
    retries: readRetries(row.retries),
    exclusive: row.is_exclusive === 1,
    film: row.has_film === 1,
    phone_settings: readPhoneSettings(row.phone_settings) ?? null,
    key: row.dedup_key,
    schedule_id: row.schedule_id,
    wait_until: row.wait_until,
    created_at: row.created_at,
    ended_at: row.ended_at,
  };
}

/** The phones that a job names. */
export function idsOf(json: string | null): string[] {
  const ids: unknown = JSON.parse(json ?? '[]');
  return Array.isArray(ids) ? ids.map(String) : [];
}

async function whyWaiting(sources: JobSources, row: StoredJob): Promise<string> {
  const { running, at_once: most } = row;
  if (most !== null && running >= most) return `It waits: ${running} of at most ${most} tasks run.`;
  const choice = choiceOf(row);
  const phones = await listSelected(sources, choice);
  const text = describePhones(await countPhones(sources, choice, phones));
  const isFree = phones.some(({ obstacle }) => obstacle === undefined);
  const limit = readLimit(row.token_phones)?.selector ?? null;
  return [
    isFree ? `It waits for its turn: ${text}.` : `It waits for a phone: ${text}.`,
    ...(limit === null ? [] : [`Its token is limited to ${limit}.`]),
  ].join(' ');
}

const choiceOf = (row: StoredJob): PhoneChoice => ({
  userId: row.user_id,
  projectId: row.project_id,
  selector: limitedSelector(row),
  deviceIds: row.device_ids === null ? undefined : idsOf(row.device_ids),
});

const phoneSettings = Compile(PhoneSettings);
export const readPhoneSettings = (json: string | null): PhoneSettings | undefined =>
  json === null ? undefined : phoneSettings.Parse(JSON.parse(json));

const object = Compile(JsonObject);

function readInput(json: string | null): Record<string, unknown> | null {
  const input = readResult(json);
  return object.Check(input) ? input : null;
}

export function taskView({ task, attempts }: { task: StoredTask; attempts: readonly StoredAttempt[] }): Task {
  return {
    id: task.id,
    number: task.number,
    parent_id: task.parent_id,
    status: task.status,
    input: readInput(task.input),
    result: readResult(task.result),
    error:
      task.error_code === null
        ? null
        : { code: task.error_code, message: task.error_message ?? '', stack: null },
    run_id: task.run_id,
    device_id: task.device_id,
    due_at: task.due_at === 0 ? null : task.due_at,
    attempts: attempts.map(({ run_id, device_id, began_at, ended_at, reason }) => ({
      ...{ run_id, device_id, began_at, ended_at, reason },
    })),
    ended_at: task.ended_at,
  };
}

/** The tasks after one, in order; a few at a time, because each may have an input and a result of many kilobytes. */
export type ReadTasks = (after: string | undefined, limit: number) => Promise<readonly Task[]>;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Names of the fields that objects have, in the order of their first appearance. */
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

/** The inputs of tasks with what became of each: a column for each field of the inputs and the results. */
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
