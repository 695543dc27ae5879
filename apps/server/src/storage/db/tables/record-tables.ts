import type { GroupChange, GroupStatus, Replay, ReplayChange, ReplayedScreenView } from '@phalanx/protocol';

import type { EpochMs, Flag, Json } from './column-types.ts';

export interface RecordTable {
  /** UUIDv7 of its time, in lower case. */
  id: string;
  /** Who owns the automation. */
  owner_id: string;
  automation_id: string;
  /** Null for direct code. */
  project_id: string | null;
  run_id: string;
  /** Whose host made it and may send its captures. */
  user_id: string;
  device_id: string;
  /** As the API shows it. */
  device_info: Json;
  automation_name: string;
  /** Type, status and completeness. */
  cell: number;
  tag: string;
  /** The records of an automation that are kept by one limit: the tag of debug records, empty for all others. */
  retention_group: string;
  saved: Flag;
  /** 1 when it stays partial, whatever still arrives. */
  has_gap: Flag;
  missing_captures: number;
  /** Of those that are stored. */
  capture_bytes: number;
  added_at: EpochMs;
  /** Of the `RunError` that its host made the record of; null when there is none. */
  error: Json | null;
  /** Of the `RecordedApp` of its last screen. */
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
  /** Of `RecordedCall`s: what was done on it; null: nothing. */
  actions: Json | null;
}

/** A node of the tree in which the records of a list are counted; a column for each cell. */
export type RecordTallyTable = { list: string; node: string; is_split: Flag; n: number } & Record<
  `c${number}`,
  number
>;

/** A record that has no group yet. */
export interface RecordGroupingTable {
  record_id: string;
  /** The last one that has a tree: it decides. */
  screen_id: string;
  /** 1 when its tree is stored. */
  is_ready: Flag;
  /** Of the run, which may be gone when the tree comes. */
  commit_hash: string | null;
  /** Until then a server is at it. */
  claimed_until: EpochMs;
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
  /** That are there now; what changes the members changes both counts in its transaction. */
  records: number;
  phones: number;
  first_seen: EpochMs;
  last_seen: EpochMs;
  /** The group that has its records and prints now. */
  merged_into: string | null;
  /** The last change that can be undone. */
  last_move: string | null;
  /** Of the app, of the record that it began with; null when that did not tell. */
  first_version: string | null;
}

export interface GroupMemberTable {
  record_id: string;
  /** Null: its screen could not be read. */
  group_id: string | null;
  screen_id: string;
  device_id: string;
  print_key: string | null;
  /** Of a `JoinReason`. */
  reason: Json | null;
  /** Why it has no group; else empty. */
  problem: string;
  is_outdated: Flag;
  commit_hash: string | null;
  /** As its record tells; null when it does not. */
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
  /** Of the phone whose screen it is, such as `de`. */
  language: string | null;
  app_version: string | null;
  /** When its record was stored, in milliseconds. */
  added_at: number;
}

export interface GroupMoveTable {
  /** UUIDv7. */
  id: string;
  kind: GroupChange['kind'];
  group_id: string;
  made_by: string;
  made_at: EpochMs;
  /** What its records are marked as; null: they are not. */
  mark: 'solved' | 'skipped' | null;
  /** The groups and the places of prints before it. */
  before: Json;
  is_undone: Flag;
  /** 1: some of its records have still to be marked, or to be pending again. */
  is_unfinished: Flag;
}

/** A record that a change of a group moves or marks. */
export interface GroupMoveRecordTable {
  move_id: string;
  record_id: string;
  /** Where it was before, and why. */
  group_id: string;
  reason: Json | null;
  /** 1: it is marked. */
  is_done: Flag;
}

/** A commit that says that it solves a group, which is still to be marked. */
export interface GroupSolvingTable {
  group_id: string;
  commit_hash: string;
  project_id: string;
  /** Who marks it. */
  user_id: string;
  noted_at: EpochMs;
}

/** A copy of a screen that a print was made of: replays show it to the code when its record may be gone. */
export interface GroupScreenTable {
  owner_id: string;
  automation_id: string;
  print_key: string;
  record_id: string;
  next_stage: string;
  /** What the run took it for. */
  screen_state: string;
  /** Its JSON, compressed by zstd. */
  tree: Buffer;
  /** Of `tree`. */
  size_bytes: number;
}

/** What became of the runs of a project with one version of an app. */
export interface AppVersionTable {
  project_id: string;
  package: string;
  version: string;
  /** That have ended by themselves, and whose screens were of this app, mostly. */
  runs: number;
  /** Of these: that did not know what to do. */
  bad_runs: number;
  records: number;
  first_seen: EpochMs;
  last_seen: EpochMs;
  /** When it was told that the code knows it worse than the version before. */
  drift_at: EpochMs | null;
  /** Of `DriftReason`. */
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
  /** Only the screens of this group. */
  group_id: string | null;
  cause: Replay['cause'];
  /** Whose screens are replayed in order, instead of a set. */
  record_id: string | null;
  /** Of the `SequenceOutcome` of such a replay. */
  sequence: Json | null;
  status: Replay['status'];
  problem: string;
  made_by: string;
  /** Of `ReplayCounts`. */
  counts: Json;
  created_at: EpochMs;
  started_at: EpochMs | null;
  ended_at: EpochMs | null;
  /** Until then a server is at it. */
  claimed_until: EpochMs;
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
  /** Of a `ReplayVerdict`. */
  verdict: Json;
}
