import { type Job, type JobStatus, JsonObject, PhoneSettings, type Task } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';
import {
  countPhones,
  describePhones,
  listSelected,
  type PhoneChoice,
  type PhoneSources,
} from '../../runs/launches/choose-phones.ts';
import { readResult } from '../../runs/runs/run-result.ts';
import { readRetries } from './retry-rule.ts';
import type { JobStore, StoredAttempt, StoredJob, StoredTask } from './store.ts';
import { readLimit } from '../../http/requests/kept-token.ts';
import { limitedSelector } from './work-access.ts';

export interface JobSources extends PhoneSources {
  readonly store: JobStore;
}

const statusOf = (row: StoredJob): JobStatus => {
  if (row.ended_at === null) return row.running > 0 ? 'running' : 'waiting';
  if (row.cancelled_at !== null) return 'cancelled';
  return row.failed > 0 ? 'failed' : row.completed > 0 ? 'completed' : 'cancelled';
};

/** Returns the view of a job with its place in the queue and the reason why it waits. Both take some look-ups. */
export async function jobView(sources: JobSources, row: StoredJob): Promise<Job> {
  const view = shortView(sources, row);
  if (row.waiting === 0) return view;
  return {
    ...view,
    place: await sources.store.countBefore(row),
    reason: await whyWaiting(sources, row),
  };
}

/** Returns the view of a job in lists. */
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

/** Returns the IDs of the phones that a job names. */
export function idsOf(json: string | null): string[] {
  const ids: unknown = JSON.parse(json ?? '[]');
  return Array.isArray(ids) ? ids.map(String) : [];
}

async function whyWaiting(sources: JobSources, row: StoredJob): Promise<string> {
  const { running, at_once: maxRunning } = row;
  if (maxRunning !== null && running >= maxRunning)
    return `The job is waiting: ${running} tasks are running, and at most ${maxRunning} may run at once.`;
  const choice = choiceOf(row);
  const phones = await listSelected(sources, choice);
  const text = describePhones(await countPhones(sources, choice, phones));
  const isFree = phones.some(({ obstacle }) => obstacle === undefined);
  const limit = readLimit(row.token_phones)?.selector ?? null;
  return [
    isFree ? `The job is waiting for its turn: ${text}.` : `The job is waiting for a phone: ${text}.`,
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
      run_id,
      device_id,
      began_at,
      ended_at,
      reason,
    })),
    ended_at: task.ended_at,
  };
}
