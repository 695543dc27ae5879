import type { JobStatus } from '@phalanx/protocol';
import type { Generated } from 'kysely';

import type { EpochMs, Flag, Json } from './column-types.ts';

export interface JobTable {
  /** UUIDv7. */
  id: string;
  user_id: string;
  project_id: string;
  /** As it was called when the job was made. */
  project_name: string;
  token_name: string | null;
  /** The only projects of the token that made it; null: all of its user. */
  token_projects: Json | null;
  /** What limited the token that made it to phones; null: nothing. */
  token_phones: Json | null;
  /** JSON of a `Budget`. */
  token_budget: Json | null;
  /** Hash of the request, to tell a repetition from another request with the same key. */
  fingerprint: string;
  selector: string | null;
  device_ids: Json | null;
  /** As it was asked for. */
  count: number | null;
  /** The most tasks that run at a time; null: no limit. */
  at_once: number | null;
  /** Whether each task takes another phone. */
  is_distinct: Flag;
  /** Whether a phone must have no other run. */
  is_exclusive: Flag;
  /** Whether films are made of its runs. */
  has_film: Flag;
  /** What is set on the phones of its runs; null: nothing. */
  phone_settings: Json | null;
  priority: number;
  dedup_key: string | null;
  concurrency_key: string | null;
  concurrency_most: number | null;
  parameters: Json;
  retries: Json;
  wait_until: EpochMs | null;
  schedule_id: string | null;
  /** Why its tasks failed together; else empty. */
  problem: Generated<string>;
  created_at: EpochMs;
  /** When tasks of it last began to wait, by the clock of the database. */
  woken_at: EpochMs;
  ended_at: EpochMs | null;
  cancelled_at: EpochMs | null;
  /** How many tasks are in each status. */
  waiting: number;
  running: Generated<number>;
  completed: Generated<number>;
  failed: Generated<number>;
  cancelled: Generated<number>;
}

export interface ScheduleTable {
  /** UUIDv7. */
  id: string;
  user_id: string;
  project_id: string;
  token_name: string | null;
  token_projects: Json | null;
  token_phones: Json | null;
  /** JSON of a `Budget`. */
  token_budget: Json | null;
  name: string;
  cron: string;
  time_zone: string;
  jitter_seconds: number;
  /** What its jobs ask for. */
  work: Json;
  overlap: 'skip' | 'queue' | 'allow';
  missed: 'none' | 'last';
  paused: Flag;
  /** Why the service paused it; else empty. */
  problem: Generated<string>;
  /** The time of its next turn, and when that begins; null: there is none. */
  planned_at: EpochMs | null;
  due_at: EpochMs | null;
  /** A turn whose job is made when the one before has ended. */
  queued_at: EpochMs | null;
  created_at: EpochMs;
}

export interface ScheduleTurnTable {
  /** UUIDv7. */
  id: string;
  schedule_id: string;
  planned_at: EpochMs;
  at: EpochMs;
  job_id: string | null;
  /** Why it was skipped; else empty. */
  reason: string;
}

export interface TaskTable {
  /** UUIDv7. */
  id: string;
  job_id: string;
  /** From 1. */
  number: number;
  status: JobStatus;
  /** The task whose code has added it. */
  parent_id: string | null;
  input: Json | null;
  result: Json | null;
  error_code: string | null;
  error_message: string | null;
  /** The newest run. */
  run_id: string | null;
  device_id: string | null;
  attempts: Generated<number>;
  /** Before, it does not begin; 0: at once. */
  due_at: Generated<EpochMs>;
  ended_at: EpochMs | null;
}

export interface TaskAttemptTable {
  task_id: string;
  /** From 1. */
  number: number;
  run_id: string;
  device_id: string;
  /** When its task could have begun. */
  waiting_since: EpochMs;
  began_at: EpochMs;
  ended_at: EpochMs | null;
  reason: string;
}
