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
  /** Owner of the host that created the record and may upload its captures. */
  user_id: string;
  device_id: string;
  /** Facts of the device, as the API shows them. */
  device_info: Json;
  automation_name: string;
  type: RecordType;
  status: RecordStatus;
  /** Set to 1 when some of its captures are missing. */
  is_partial: Flag;
  tag: string;
  /** Records of an automation that share one retention limit: the tag of debug records, empty for all others. */
  retention_group: string;
  saved: Flag;
  /** Set to 1 when the record stays partial, whatever else arrives. */
  has_gap: Flag;
  missing_captures: number;
  /** Size of the stored captures. */
  capture_bytes: number;
  added_at: EpochMs;
  /** JSON of the `RunError` that the host created the record for; null when there is none. */
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
  /** JSON of the `RecordedCall`s that were made on this screen; null when there are none. */
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
  /** Number of existing records and phones. A transaction that changes the members updates both counts. */
  records: number;
  phones: number;
  first_seen: EpochMs;
  last_seen: EpochMs;
  /** Group that now has its records and prints. */
  merged_into: string | null;
  /** Last change that can be undone. */
  last_move: string | null;
  /** App version of the first record; null when that record did not report one. */
  first_version: string | null;
}

export interface GroupMemberTable {
  record_id: string;
  /** Null when the screen could not be read. */
  group_id: string | null;
  screen_id: string;
  device_id: string;
  print_key: string | null;
  /** JSON of a `JoinReason`. */
  reason: Json | null;
  /** Reason why the record has no group; otherwise empty. */
  problem: string;
  is_outdated: Flag;
  commit_hash: string | null;
  /** App version of the record; null when the record did not report one. */
  app_version: string | null;
  language: string | null;
}

/** Print of an automation, and the group whose screens have it. */
export interface GroupPrintTable {
  owner_id: string;
  automation_id: string;
  print_key: string;
  group_id: string;
  /** Set to 1 when other screens are compared with this print. */
  is_sample: Flag;
  print: Json;
  /** Language of the phone that showed the screen, for example `de`. */
  language: string | null;
  app_version: string | null;
  /** Time when the record was stored, epoch ms. */
  added_at: number;
}

export interface GroupMoveTable {
  /** UUIDv7. */
  id: string;
  kind: GroupChange['kind'];
  group_id: string;
  made_by: string;
  made_at: EpochMs;
  /** Mark of its records; null when they have none. */
  mark: 'solved' | 'skipped' | null;
  /** State of groups and prints before the change. */
  before: Json;
  is_undone: Flag;
}

/** Record that a change of a group moves or marks. */
export interface GroupMoveRecordTable {
  move_id: string;
  record_id: string;
  /** Previous group of the record, and the reason. */
  group_id: string;
  reason: Json | null;
  /** Set to 1 when the record has been marked. */
  is_done: Flag;
}

/** Copy of a screen that a print was made from. Replays show it to the code, even when its record has been deleted. */
export interface GroupScreenTable {
  owner_id: string;
  automation_id: string;
  print_key: string;
  record_id: string;
  next_stage: string;
  /** State that the run recognized the screen as. */
  screen_state: string;
  /** JSON of the tree, compressed by zstd. */
  tree: Buffer;
  /** Compressed size of `tree`, in bytes. */
  size_bytes: number;
}

/** Counts of the runs of a project with one version of an app. */
export interface AppVersionTable {
  project_id: string;
  package: string;
  version: string;
  /** Number of runs that ended on their own and whose screens were mostly of this app. */
  runs: number;
  /** Number of these runs that did not know what to do. */
  bad_runs: number;
  records: number;
  first_seen: EpochMs;
  last_seen: EpochMs;
  /**
   * Time when its drift was reported: the code handles it worse than the previous version, or it has reopened a solved
   * group.
   */
  drift_at: EpochMs | null;
  /** JSON of a `DriftReason`. */
  drift: Json | null;
}

export interface ReplayTable {
  /** UUIDv7. */
  id: string;
  project_id: string;
  owner_id: string;
  /** Git hash of the files. */
  tree_id: string;
  commit_hash: string | null;
  is_draft: Flag;
  screen_set: Replay['set'];
  /** Single group whose screens are replayed. */
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

/** Unsaved text of a replay that has not ended. */
export interface ReplayDraftTable {
  replay_id: string;
  /** JSON of the base tree, and of the files and deletions laid over it, compressed by zstd. */
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
