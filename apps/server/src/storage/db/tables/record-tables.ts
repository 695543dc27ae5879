import type {
  GroupChange,
  GroupStatus,
  RecordStatus,
  RecordType,
  Replay,
  ReplayChange,
  ReplayedScreenView,
} from '@phalanx/protocol';

import type { EpochMs, Flag, Json } from './column-types.ts';

export interface RecordTable {
  /** UUIDv7 of its time, in lower case. */
  id: string;
  /** Owner of the automation. */
  owner_id: string;
  automation_id: string;
  /** Null for direct code. */
  project_id: string | null;
  run_id: string;
  /** Owner of the host that made it and may send its captures. */
  user_id: string;
  device_id: string;
  /** Facts of the device, as the API shows them. */
  device_info: Json;
  automation_name: string;
  type: RecordType;
  status: RecordStatus;
  /** 1 when something of its captures is missing. */
  is_partial: Flag;
  tag: string;
  /** The records of an automation that are kept by one limit: the tag of debug records, empty for all others. */
  retention_group: string;
  saved: Flag;
  /** 1 when it stays partial, whatever still arrives. */
  has_gap: Flag;
  missing_captures: number;
  /** Size of the stored captures. */
  capture_bytes: number;
  added_at: EpochMs;
  /** JSON of the `RunError` that its host made the record of; null when there is none. */
  error: Json | null;
  /** JSON of the `RecordedApp` of its last screen. */
  app: Json | null;
}

type CaptureState = 'none' | 'expected' | 'stored';

export interface RecordScreenTable {
  record_id: string;
  position: number;
  screen_id: string;
  next_stage: string;
  screen_state: string;
  max_steps: number;
  captured_at: EpochMs;
  tree: CaptureState;
  screenshot: CaptureState;
  width: number;
  height: number;
  original_width: number;
  original_height: number;
  /** JSON of the `RecordedCall`s that were made on it; null: none. */
  actions: Json | null;
}

/** Records that show the same screen. */
export interface RecordGroupTable {
  /** UUIDv7. */
  id: string;
  owner_id: string;
  automation_id: string;
  /** Null for direct code. */
  project_id: string | null;
  automation_name: string;
  package_name: string;
  title: string;
  next_stage: string;
  screen_state: string;
  status: GroupStatus;
  assignee_id: string | null;
  solved_commit: string | null;
  solved_at: EpochMs | null;
  reopened_at: EpochMs | null;
  reopened_by: string | null;
  /** Present records and phones; what changes the members changes both counts in its transaction. */
  records: number;
  phones: number;
  first_seen: EpochMs;
  last_seen: EpochMs;
  /** The group that has its records and prints now. */
  merged_into: string | null;
  /** The last change that can be undone. */
  last_move: string | null;
  /** App version of the record that it began with; null when the record did not tell. */
  first_version: string | null;
}

export interface GroupMemberTable {
  record_id: string;
  /** Null: its screen could not be read. */
  group_id: string | null;
  screen_id: string;
  device_id: string;
  print_key: string | null;
  /** JSON of a `JoinReason`. */
  reason: Json | null;
  /** Reason why it has no group; else empty. */
  problem: string;
  is_outdated: Flag;
  commit_hash: string | null;
  /** App version of its record; null when the record does not tell. */
  app_version: string | null;
  language: string | null;
}

/** A print of an automation, and the group whose screens have it. */
export interface GroupPrintTable {
  owner_id: string;
  automation_id: string;
  print_key: string;
  group_id: string;
  /** 1: other screens are compared with it. */
  is_sample: Flag;
  print: Json;
  /** Language of the phone whose screen it is, for example `de`. */
  language: string | null;
  app_version: string | null;
  /** Time when its record was stored, epoch ms. */
  added_at: number;
}

export interface GroupMoveTable {
  /** UUIDv7. */
  id: string;
  kind: GroupChange['kind'];
  group_id: string;
  made_by: string;
  made_at: EpochMs;
  /** Mark of its records; null: they have none. */
  mark: 'solved' | 'skipped' | null;
  /** The groups and the places of prints before it. */
  before: Json;
  is_undone: Flag;
}

/** A record that a change of a group moves or marks. */
export interface GroupMoveRecordTable {
  move_id: string;
  record_id: string;
  /** Group that the record was in before, and the reason. */
  group_id: string;
  reason: Json | null;
  /** 1: it is marked. */
  is_done: Flag;
}

/** A copy of a screen that a print was made of: replays show it to the code when its record may be gone. */
export interface GroupScreenTable {
  owner_id: string;
  automation_id: string;
  print_key: string;
  record_id: string;
  next_stage: string;
  /** State that the run took the screen for. */
  screen_state: string;
  /** JSON of the tree, compressed by zstd. */
  tree: Buffer;
  /** Size of `tree`, which is compressed. */
  size_bytes: number;
}

/** Counts of the runs of a project with one version of an app. */
export interface AppVersionTable {
  project_id: string;
  package: string;
  version: string;
  /** Runs that have ended by themselves, and whose screens were mostly of this app. */
  runs: number;
  /** Runs among these that did not know what to do. */
  bad_runs: number;
  records: number;
  first_seen: EpochMs;
  last_seen: EpochMs;
  /** Time when its drift was told: the code knows it worse than the one before, or it has reopened a solved group. */
  drift_at: EpochMs | null;
  /** JSON of a `DriftReason`. */
  drift: Json | null;
}

export interface ReplayTable {
  /** UUIDv7. */
  id: string;
  project_id: string;
  owner_id: string;
  /** Git's hash of the files. */
  tree_id: string;
  commit_hash: string | null;
  is_draft: Flag;
  screen_set: Replay['set'];
  /** The only group whose screens are replayed. */
  group_id: string | null;
  cause: Replay['cause'];
  /** Record whose screens are replayed in order, instead of a set. */
  record_id: string | null;
  /** JSON of the `SequenceOutcome` of such a replay. */
  sequence: Json | null;
  status: Replay['status'];
  problem: string;
  made_by: string;
  /** JSON of `ReplayCounts`. */
  counts: Json;
  created_at: EpochMs;
  started_at: EpochMs | null;
  ended_at: EpochMs | null;
}

/** The unsaved text of a replay that has not ended. */
export interface ReplayDraftTable {
  replay_id: string;
  /** JSON of the tree that it is laid over, its files and what it deletes, compressed by zstd. */
  content: Buffer;
}

export interface ReplayVerdictTable {
  replay_id: string;
  position: number;
  kind: ReplayedScreenView['kind'];
  name: string;
  group_id: string | null;
  expected: string | null;
  outcome: ReplayedScreenView['outcome'];
  change: ReplayChange;
  /** JSON of a `ReplayVerdict`. */
  verdict: Json;
}
