import type { JobStatus, RunOutcome, RunStatus } from '@phalanx/protocol';
import type { Generated } from 'kysely';

import type { EpochMs, Flag, Json, WorkKind } from './column-types.ts';

/** Durable pending work; a row is deleted when its work is done. */
export interface WorkTable {
  kind: WorkKind;
  /** ID of the subject of the work, unique per kind. */
  key: string;
  /** User, recipient or the like whose items share places on a server. */
  lane: string;
  due_at: EpochMs;
  /** End of the claim of the server that processes the item; each claim and renewal writes a different time. */
  claimed_until: EpochMs;
  /** Number of claims, without those that were given back. */
  attempts: number;
  payload: Json | null;
  /** Reason why the last attempt failed; empty when none has. */
  problem: string;
  /** Whether it was enqueued again after its last claim. */
  is_again: Flag;
}

export interface JobTable {
  /** UUIDv7. */
  id: string;
  user_id: string;
  project_id: string;
  /** Name of the project when the job was created. */
  project_name: string;
  token_name: string | null;
  /** Project limit of the token that created, last changed or resumed the job; null for all projects of its user. */
  token_projects: Json | null;
  /** Phone limit of that token; null when there is none. */
  token_phones: Json | null;
  /** JSON of a `Budget`. */
  token_budget: Json | null;
  /** Hash of the request, to distinguish a retry from another request with the same key. */
  fingerprint: string;
  selector: string | null;
  device_ids: Json | null;
  /** Requested count. */
  count: number | null;
  /** Maximum number of concurrent tasks; null for no limit. */
  at_once: number | null;
  /** Whether each task uses a different phone. */
  is_distinct: Flag;
  /** Whether a phone must have no other run. */
  is_exclusive: Flag;
  /** Whether its runs are filmed. */
  has_film: Flag;
  /** Settings for the phones of its runs; null when there are none. */
  phone_settings: Json | null;
  priority: number;
  dedup_key: string | null;
  concurrency_key: string | null;
  concurrency_most: number | null;
  parameters: Json;
  retries: Json;
  wait_until: EpochMs | null;
  schedule_id: string | null;
  /** Reason why its tasks failed together; otherwise empty. */
  problem: Generated<string>;
  created_at: EpochMs;
  /** Time when tasks of the job last began to wait, by the clock of the database. */
  woken_at: EpochMs;
  ended_at: EpochMs | null;
  cancelled_at: EpochMs | null;
  /** Number of tasks in each status. */
  waiting: number;
  running: Generated<number>;
  completed: Generated<number>;
  failed: Generated<number>;
  cancelled: Generated<number>;
  /** Size of its JSON and that of its tasks, in bytes. */
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
  /** Work that its jobs request. */
  work: Json;
  overlap: 'skip' | 'queue' | 'allow';
  missed: 'none' | 'last';
  paused: Flag;
  /** Reason why the service paused the schedule; otherwise empty. */
  problem: Generated<string>;
  /** Turn whose job is created when the previous one has ended. */
  queued_at: EpochMs | null;
  created_at: EpochMs;
  /** Size of its work, in bytes. */
  bytes: Generated<number>;
}

export interface ScheduleTurnTable {
  /** UUIDv7. */
  id: string;
  schedule_id: string;
  planned_at: EpochMs;
  at: EpochMs;
  job_id: string | null;
  /** Reason why the turn was skipped; otherwise empty. */
  reason: string;
}

export interface TaskTable {
  /** UUIDv7. */
  id: string;
  job_id: string;
  /** Number from 1. */
  number: number;
  status: JobStatus;
  /** Task whose code added this one. */
  parent_id: string | null;
  input: Json | null;
  result: Json | null;
  error_code: string | null;
  error_message: string | null;
  /** Newest run. */
  run_id: string | null;
  device_id: string | null;
  attempts: Generated<number>;
  /** Earliest time to begin; 0 for immediately. */
  due_at: Generated<EpochMs>;
  ended_at: EpochMs | null;
}

export interface TaskAttemptTable {
  task_id: string;
  /** Number from 1. */
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
  /** Hash of the request, to distinguish a retry from another request with the same launch ID. */
  fingerprint: string;
  /** JSON of the `LaunchAnswer` when part of the launch did not start. */
  answer: Json | null;
  /** Name of the token that requested the launch, which may have been deleted since. */
  token_name: string | null;
  /** ID of that token if it has a budget. */
  budget_token: string | null;
  /** All limits of that token, as formatted by `limitsTextOf`; null when there are none. */
  token_limits: string | null;
  /** Git hash of the project's saved files. */
  tree: string | null;
  /** JSON of `{automation_parameters, job_variables}`. */
  parameters: Json | null;
  created_at: EpochMs;
  /** Size of its parameters, its code, and the results of its runs, in bytes. */
  bytes: Generated<number>;
}

export interface RunTable {
  /** UUIDv7, so the order of IDs is that of creation. */
  id: string;
  /** Internal ID of the launch. */
  launch: string;
  user_id: string;
  device_id: string;
  /** Owner of the host that runs it, who may be another user than the launcher. */
  device_owner_id: string;
  host_id: string;
  automation_id: string;
  /** Name of the project at launch; for direct code, the name that its launch gave. */
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
  /** Set to 1 when the run has ended and its host may still have a part of its log. */
  log_left: Flag;
  /**
   * Epoch of the connection that it is sent on, or whose host has it; null when its host has not been sent anything
   * yet.
   */
  epoch: number | null;
}

export interface RunFileTable {
  run_id: string;
  /** Unique per run; see `nameKey`. */
  name_key: string;
  name: string;
  /** ID of its blob. */
  file_id: string;
  /** Owner of the host that uploaded it. */
  user_id: string;
  content_type: string;
  size_bytes: number;
  sha256: string;
  created_at: EpochMs;
}

/** Picture or video in the film of a run. */
export interface FilmPartTable {
  run_id: string;
  /** Place in the film, from 1. */
  number: number;
  /** ID of its blob. */
  part_id: string;
  /** Owner of the host that uploaded it. */
  user_id: string;
  taken_at: EpochMs;
  /** Null for a picture. */
  ended_at: EpochMs | null;
  width: number;
  height: number;
  size_bytes: number;
  /** Reason why it is a picture instead of a video. */
  no_video: string | null;
}

/** Number and total time of the runs of a day with the same outcome. Triggers count them. */
export interface RunStatTable {
  /** Days since 1970, in UTC. */
  day: number;
  /** User who launched the runs. */
  user_id: string;
  /** Empty for direct code. */
  automation_id: string;
  device_id: string;
  outcome: RunOutcome;
  /** Error code of the runs; empty when there is none. */
  reason: string;
  /** Newest name of the project. */
  name: string;
  runs: number;
  /** Number of these runs that had begun. */
  started: number;
  run_ms: number;
  wait_ms: number;
}

/** Part of a run's kept log. */
export interface KeptChunkTable {
  run_id: string;
  kind: 'log' | 'trace';
  /** Number of its first entry among the kept entries of the run, from 1. */
  first: number;
  count: number;
  /** ID of its last entry. */
  last_id: string;
  size_bytes: number;
  /** The entries, compressed. */
  packed: Buffer;
}
