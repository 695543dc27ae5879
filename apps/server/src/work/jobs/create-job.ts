import { createHash } from 'node:crypto';
import { defaultRetries, type JobBody, type Retries } from '@phalanx/protocol';
import { v7 as uuidv7 } from 'uuid';
import type { Clock } from '../../kernel/clock.ts';
import { isUniqueViolation } from '../../storage/db/dialect.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import type { AuditEvent } from '../../http/requests/audit-event.ts';
import type { Principal } from '../../http/requests/principal.ts';
import { type PhoneLabels, readSelector } from '../../fleet/devices/labels/phone-labels.ts';
import type { Limits } from '../../kernel/limits/limits.ts';
import { TimeSlice } from '../../kernel/limits/time-slice.ts';
import type { LaunchPreparation } from '../../runs/launches/launch-preparation.ts';
import type { GetLaunchable, Launchable } from '../../code/projects/project-files.ts';
import { IncreasingIds } from '../../kernel/uuid-v7.ts';
import type { EndTurn, JobStore, NewJob, NewTask, StoredJob } from './store.ts';
import { limitOf } from '../../http/requests/kept-token.ts';
import { maxWaitingSelectors } from './waiting-selectors-store.ts';
import { makerOf } from './work-access.ts';
import { readInputs } from './read-inputs.ts';
import { stableJson } from '../../kernel/stable-json.ts';

export interface JobMaker {
  readonly store: JobStore;
  readonly labels: PhoneLabels;
  readonly preparation: Pick<LaunchPreparation, 'checkParameters' | 'requireNoSecrets'>;
  readonly getLaunchable: GetLaunchable;
  readonly clock: Clock;
  readonly limits: Pick<Limits, 'withRoom'>;
  /** Maximum number of waiting tasks per user. */
  readonly maxTasks: number;
}

/** Prefix of the keys of jobs that schedules make. */
export const scheduleKeyPrefix = 'schedule:';

export interface JobOrigin {
  readonly principal: Principal;
  /** Audit event of the request; null when a schedule makes the job or is the subject of the request. */
  readonly auditEvent: AuditEvent | null;
  readonly scheduleId: string | null;
  /** Ends the turn of the schedule that makes the job. */
  readonly endTurn?: EndTurn;
}

/** Error when the turn of the schedule has already ended in another way. Nothing is stored. */
export class TurnGone extends Error {
  override readonly name = 'TurnGone';
}

/**
 * Stores a job with its tasks. Idempotent by key: when the key is used, returns the existing job. Throws `TurnGone`.
 */
export async function createJob(maker: JobMaker, given: JobBody, origin: JobOrigin): Promise<StoredJob> {
  const body = await withInputs(given);
  const { store, preparation, getLaunchable, maxTasks } = maker;
  const { principal, auditEvent, endTurn } = origin;
  const project = await getLaunchable(body.automation_id, principal);
  requirePhones(maker.labels, principal.userId, body);
  const fingerprint = await fingerprintOf(body, limitOf(principal));
  const known = await findSame(maker, body, { userId: principal.userId, fingerprint });
  if (known !== undefined) return endedBy(store, known, endTurn);
  const parameters = await preparation.checkParameters(project, body.parameters ?? {}, principal.userId);
  await preparation.requireNoSecrets(project.projectId, [parameters, ...(body.inputs ?? [])]);
  const now = maker.clock.now();
  const { tasks, bytes: ofInputs } = await tasksOf(body, now);
  const ownBytes = Buffer.byteLength(JSON.stringify([parameters, body.device_ids ?? '']));
  const bytes = ownBytes + ofInputs;
  const job = newJob(body, { project, parameters, origin, now, fingerprint, waiting: tasks.length, bytes });
  auditEvent?.on({ type: 'job', id: job.id, name: project.name }, [project.ownerId], {
    project: project.projectId,
    tasks: tasks.length,
  });
  try {
    const stored = { userId: principal.userId, bytes };
    const row = await maker.limits.withRoom('work_bytes', stored, () =>
      store.insert(job, tasks, maxTasks, endTurn),
    );
    if (row === 'turn_gone') throw new TurnGone();
    if (row === 'too_many_tasks') throw ApiError.of(row, { limit: maxTasks }, { retryAfterS: 60 });
    if (row === 'too_many_selectors') throw tooManySelectors();
    return row;
  } catch (error) {
    // Two concurrent requests used the same key: one of them finds the job of the other.
    const same = isUniqueViolation(error)
      ? await findSame(maker, body, { userId: principal.userId, fingerprint })
      : undefined;
    if (same === undefined) throw error;
    return endedBy(store, same, endTurn);
  }
}

/** Ends the turn whose job exists already. */
async function endedBy(
  store: Pick<JobStore, 'endTurn'>,
  job: StoredJob,
  endTurn: EndTurn | undefined,
): Promise<StoredJob> {
  if (endTurn !== undefined && !(await store.endTurn(job.id, endTurn))) throw new TurnGone();
  return job;
}

export const tooManySelectors = (): ApiError =>
  ApiError.of('too_many_selectors', { limit: maxWaitingSelectors }, { retryAfterS: 60 });

async function withInputs({ inputs_text: text, ...body }: JobBody): Promise<JobBody> {
  if (text === undefined) return body;
  if (body.inputs === undefined) return { ...body, inputs: await readInputs(text) };
  throw ApiError.of('invalid_request', { problem: 'Give inputs or inputs_text, not both' });
}

/** Requires either a valid selector or device IDs. Throws `invalid_request` or `invalid_selector`. */
export function requirePhones(
  labels: PhoneLabels,
  userId: string,
  { selector, device_ids }: Pick<JobBody, 'selector' | 'device_ids'>,
): void {
  if ((selector === undefined) === (device_ids === undefined))
    throw ApiError.of('invalid_request', { problem: 'Give either selector or device_ids' });
  if (selector !== undefined) readSelector(labels, userId, selector);
}

async function findSame(
  { store }: JobMaker,
  { key }: JobBody,
  { userId, fingerprint }: { userId: string; fingerprint: string },
): Promise<StoredJob | undefined> {
  const known = key === undefined ? undefined : await store.findByKey(userId, key);
  if (known !== undefined && known.fingerprint !== fingerprint)
    throw ApiError.of('job_key_conflict', { key: key ?? '' });
  return known;
}

/**
 * Returns the digest of a request. It ignores the order of the fields, and is the same for tokens with the same limit.
 */
async function fingerprintOf({ inputs = [], ...body }: JobBody, limit: string | null): Promise<string> {
  const sum = createHash('sha256').update(stableJson(body));
  if (limit !== null) sum.update('\n').update(limit);
  const slice = new TimeSlice();
  for (const input of inputs) {
    sum.update('\n').update(stableJson(input));
    if (slice.isOver) await slice.next();
  }
  return sum.digest('hex');
}

async function tasksOf(
  { inputs, count, device_ids: deviceIds }: JobBody,
  now: number,
): Promise<{ tasks: NewTask[]; bytes: number }> {
  const ids = new IncreasingIds();
  const runs = count ?? (deviceIds === undefined ? 1 : new Set(deviceIds).size);
  const tasks: NewTask[] = [];
  let bytes = 0;
  const slice = new TimeSlice();
  for (const input of inputs ?? Array.from({ length: runs }, () => null)) {
    const text = input === null ? null : JSON.stringify(input);
    tasks.push({ id: ids.next(now), number: tasks.length + 1, input: text });
    bytes += Buffer.byteLength(text ?? '');
    if (slice.isOver) await slice.next();
  }
  return { tasks, bytes };
}

const retriesOf = ({ retries }: Pick<JobBody, 'retries'>): Retries =>
  typeof retries === 'object'
    ? retries
    : { most: retries ?? defaultRetries.most, on: [...defaultRetries.on] };

const minOf = (...limits: readonly (number | null | undefined)[]): number | null => {
  const given = limits.filter((limit) => typeof limit === 'number');
  return given.length === 0 ? null : Math.min(...given);
};

/** Returns the maximum number of tasks of a job that may run at once as its principal, or null when it is unlimited. */
export const atOnceOf = (
  { count, is_distinct }: Pick<StoredJob, 'count' | 'is_distinct'>,
  { phones }: Principal,
): number | null => minOf(is_distinct === 1 ? null : count, phones?.maxPhones);

interface JobParts {
  project: Launchable;
  parameters: Record<string, unknown>;
  origin: JobOrigin;
  now: number;
  fingerprint: string;
  waiting: number;
  bytes: number;
}

function newJob(
  body: JobBody,
  { project, parameters, origin, now, fingerprint, waiting, bytes }: JobParts,
): NewJob {
  const { principal, scheduleId } = origin;
  const hasInputs = body.inputs !== undefined;
  return {
    id: uuidv7(),
    ...makerOf(principal),
    project_id: project.projectId,
    project_name: project.name,
    fingerprint,
    selector: body.selector ?? null,
    device_ids: body.device_ids === undefined ? null : JSON.stringify([...new Set(body.device_ids)]),
    count: body.count ?? null,
    at_once: atOnceOf({ count: body.count ?? null, is_distinct: Number(!hasInputs) }, principal),
    is_distinct: Number(!hasInputs),
    is_exclusive: Number(body.exclusive ?? true),
    has_film: Number(body.film ?? false),
    phone_settings: body.phone_settings === undefined ? null : JSON.stringify(body.phone_settings),
    priority: body.priority ?? 0,
    dedup_key: body.key ?? null,
    concurrency_key: body.concurrency?.key ?? null,
    concurrency_most: body.concurrency?.most ?? null,
    parameters: JSON.stringify(parameters),
    retries: JSON.stringify(retriesOf(body)),
    wait_until: body.wait_seconds === undefined ? null : now + body.wait_seconds * 1000,
    schedule_id: scheduleId,
    created_at: now,
    ended_at: null,
    cancelled_at: null,
    waiting,
    bytes,
  };
}
