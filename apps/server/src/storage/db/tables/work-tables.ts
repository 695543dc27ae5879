import type { JobStatus, RunOutcome, RunStatus } from '@phalanx/protocol';
import type { Generated } from 'kysely';

import type { EpochMs, Flag, Json, WorkKind } from './column-types.ts';

/** Durable work that has to be done; a row goes when it is. */
export interface WorkTable {
  kind: WorkKind;
  /** ID of the thing that it is about, once in its kind. */
  key: string;
  /** The user, the receiver or the like whose items share places on a server. */
  lane: string;
  due_at: EpochMs;
  /** End of the claim of the server that is at it; each claim and renewal writes another time. */
  claimed_until: EpochMs;
  /** Number of claims, without those that were given back. */
  attempts: number;
  payload: Json | null;
  /** Reason why the last attempt failed; empty: none has. */
  problem: string;
  /** Whether it was enqueued again after its last claim. */
  is_again: Flag;
}

export interface JobTable {
  /** UUIDv7. */
  id: string;
  user_id: string;
  project_id: string;
  /** Name of the project when the job was made. */
  project_name: string;
  token_name: string | null;
  /** The only projects of the token that made it, or last changed or resumed it; null: all of its user. */
  token_projects: Json | null;
  /** Limit of that token to phones; null: none. */
  token_phones: Json | null;
  /** JSON of a `Budget`. */
  token_budget: Json | null;
  /** Hash of the request, to tell a repetition from another request with the same key. */
  fingerprint: string;
  selector: string | null;
  device_ids: Json | null;
  /** Count as it was asked for. */
  count: number | null;
  /** The most tasks that run at a time; null: no limit. */
  at_once: number | null;
  /** Whether each task takes another phone. */
  is_distinct: Flag;
  /** Whether a phone must have no other run. */
  is_exclusive: Flag;
  /** Whether films are made of its runs. */
  has_film: Flag;
  /** Settings for the phones of its runs; null: none. */
  phone_settings: Json | null;
  priority: number;
  dedup_key: string | null;
  concurrency_key: string | null;
  concurrency_most: number | null;
  parameters: Json;
  retries: Json;
  wait_until: EpochMs | null;
  schedule_id: string | null;
  /** Reason why its tasks failed together; else empty. */
  problem: Generated<string>;
  created_at: EpochMs;
  /** Time when tasks of it last began to wait, by the clock of the database. */
  woken_at: EpochMs;
  ended_at: EpochMs | null;
  cancelled_at: EpochMs | null;
  /** Number of tasks in each status. */
  waiting: number;
  running: Generated<number>;
  completed: Generated<number>;
  failed: Generated<number>;
  cancelled: Generated<number>;
  /** Counts its JSON and that of its tasks. */
  bytes: Generated<number>;
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
  /** Work that its jobs ask for. */
  work: Json;
  overlap: 'skip' | 'queue' | 'allow';
  missed: 'none' | 'last';
  paused: Flag;
  /** Reason why the service paused it; else empty. */
  problem: Generated<string>;
  /** A turn whose job is made when the one before has ended. */
  queued_at: EpochMs | null;
  created_at: EpochMs;
  /** Counts its work. */
  bytes: Generated<number>;
}

export interface ScheduleTurnTable {
  /** UUIDv7. */
  id: string;
  schedule_id: string;
  planned_at: EpochMs;
  at: EpochMs;
  job_id: string | null;
  /** Reason why it was skipped; else empty. */
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
  /** Time before which it does not begin; 0: at once. */
  due_at: Generated<EpochMs>;
  ended_at: EpochMs | null;
}

export interface TaskAttemptTable {
  task_id: string;
  /** From 1. */
  number: number;
  run_id: string;
  device_id: string;
  /** Time when its task could have begun. */
  waiting_since: EpochMs;
  began_at: EpochMs;
  ended_at: EpochMs | null;
  reason: string;
}

export interface LaunchTable {
  id: string;
  user_id: string;
  launch_id: string | null;
  /** Hash of the request, to tell a repetition from another request under the same launch ID. */
  fingerprint: string;
  /** JSON of the `LaunchAnswer`, when something of the launch did not start. */
  answer: Json | null;
  /** Name of the token that the launch was asked for with, which may be gone by now. */
  token_name: string | null;
  /** ID of that token, when it has a budget. */
  budget_token: string | null;
  /** All limits of that token, as `limitsTextOf` has them; null: none. */
  token_limits: string | null;
  /** Git's hash of the project's saved files. */
  tree: string | null;
  /** JSON of `{automation_parameters, job_variables}`. */
  parameters: Json | null;
  created_at: EpochMs;
  /** Counts its parameters, its code, and the results of its runs. */
  bytes: Generated<number>;
}

export interface RunTable {
  /** UUIDv7, so the order of IDs is that of creation. */
  id: string;
  /** The service's own ID of the launch. */
  launch: string;
  user_id: string;
  device_id: string;
  /** Owner of the host that runs it; the launcher may be somebody else. */
  device_owner_id: string;
  host_id: string;
  automation_id: string;
  /** Name of the project when it was launched; for direct code, the name that its launch gave. */
  project_name: string | null;
  /** The caller's launch ID; null for a project. */
  launch_id: string | null;
  status: RunStatus;
  stop_requested: Flag;
  error_code: string | null;
  error_message: string | null;
  error_stack: string | null;
  /** Outcome, when it says more than the status. */
  outcome: RunOutcome | null;
  /** Newest commit, and whether there were changes since; only for a project. */
  commit: string | null;
  dirty: Flag | null;
  created_at: EpochMs;
  started_at: EpochMs | null;
  ended_at: EpochMs | null;
  /** 1: it has ended, and its host may still have a part of its log. */
  log_left: Flag;
  /** Epoch of the connection that it is to be sent on, or whose host has it; null: its host was told nothing yet. */
  epoch: number | null;
}

export interface RunFileTable {
  run_id: string;
  /** See `nameKey`: unique among those of a run. */
  name_key: string;
  name: string;
  /** Names its blob. */
  file_id: string;
  /** Owner of the host that has uploaded it. */
  user_id: string;
  content_type: string;
  size_bytes: number;
  sha256: string;
  created_at: EpochMs;
}

/** A picture or a video of the film of a run. */
export interface FilmPartTable {
  run_id: string;
  /** Its place in the film, from 1. */
  number: number;
  /** Names its blob. */
  part_id: string;
  /** Owner of the host that has uploaded it. */
  user_id: string;
  taken_at: EpochMs;
  /** Null: it is a picture. */
  ended_at: EpochMs | null;
  width: number;
  height: number;
  size_bytes: number;
  /** Reason why it is a picture. */
  no_video: string | null;
}

/** Number and total time of the runs of a day that ended in one way. Triggers count them. */
export interface RunStatTable {
  /** Days since 1970, in UTC. */
  day: number;
  /** User who launched them. */
  user_id: string;
  /** Empty: direct code. */
  automation_id: string;
  device_id: string;
  outcome: RunOutcome;
  /** Code of their error; empty without one. */
  reason: string;
  /** The newest name of the project. */
  name: string;
  runs: number;
  /** Number of these runs that had begun. */
  started: number;
  run_ms: number;
  wait_ms: number;
}

/** Some entries of a run's kept log. */
export interface KeptChunkTable {
  run_id: string;
  kind: 'log' | 'trace';
  /** Number of its first entry among those that were kept of the run, from 1. */
  first: number;
  count: number;
  /** ID of its last entry. */
  last_id: string;
  size_bytes: number;
  /** The entries, compressed. */
  packed: Buffer;
}
