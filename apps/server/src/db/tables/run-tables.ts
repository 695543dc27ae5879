import type { RunOutcome, RunStatus } from '@phalanx/protocol';

import type { EpochMs, Flag, Json } from './column-types.ts';

export interface LaunchTable {
  id: string;
  user_id: string;
  launch_id: string | null;
  /** Hash of the request, to tell a repetition from another request under the same launch ID. */
  fingerprint: string;
  /** Of the `LaunchAnswer` of a launch of which something did not start. */
  answer: Json | null;
  /** Of the token that the launch was asked for with, which may be gone by now. */
  token_name: string | null;
  /** ID of that token, when it has a budget. */
  budget_token: string | null;
  /** Git's hash of the project's saved files. */
  tree: string | null;
  /** Of `{automation_parameters, job_variables}`. */
  parameters: Json | null;
  created_at: EpochMs;
}

export interface RunTable {
  /** UUIDv7, so the order of IDs is that of creation. */
  id: string;
  /** The service's own ID of the launch. */
  launch: string;
  user_id: string;
  device_id: string;
  /** Whose host runs it; the launcher may be somebody else. */
  device_owner_id: string;
  host_id: string;
  automation_id: string;
  /** As it was called when it was launched; of direct code what its launch called it. */
  project_name: string | null;
  /** The caller's launch ID; null for a project. */
  launch_id: string | null;
  status: RunStatus;
  stop_requested: Flag;
  error_code: string | null;
  error_message: string | null;
  error_stack: string | null;
  /** Where it says more than the status. */
  outcome: RunOutcome | null;
  /** Of a project: the newest commit, and whether there were changes since. */
  commit: string | null;
  dirty: Flag | null;
  created_at: EpochMs;
  started_at: EpochMs | null;
  ended_at: EpochMs | null;
  /** 1: it has ended, and its host may still have a part of its log. */
  log_left: Flag;
  /** Of the connection that it is to be sent on, or whose host has it; null: its host was told nothing yet. */
  epoch: number | null;
}

export interface RunFileTable {
  run_id: string;
  /** See `nameKey`: unique among those of a run. */
  name_key: string;
  name: string;
  /** Names its blob. */
  file_id: string;
  /** Whose host has uploaded it. */
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
  /** Whose host has uploaded it. */
  user_id: string;
  taken_at: EpochMs;
  /** Null: it is a picture. */
  ended_at: EpochMs | null;
  width: number;
  height: number;
  size_bytes: number;
  /** Why it is a picture. */
  no_video: string | null;
}

/** How many runs ended so on a day, and how long they took together. Triggers count them. */
export interface RunStatTable {
  /** Days since 1970, in UTC. */
  day: number;
  /** Who launched them. */
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
  /** How many of them had begun. */
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
