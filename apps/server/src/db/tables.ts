import type {
  AuditAction,
  AuditOutcome,
  AuditSubject,
  MemberRole,
  ReportedDeviceState,
  RunOutcome,
  RunStatus,
  ShareRole,
} from '@phalanx/protocol';
import type { Generated, Kysely, Selectable, Transaction as KyselyTransaction } from 'kysely';

/** In both engines a whole number of 64 bits. */
type EpochMs = number;
/** 0 or 1. */
type Flag = number;
/** JSON text. */
type Json = string;

/** The tables as the migrations leave them. */
export interface Database {
  user: UserTable;
  token: TokenTable;
  session: SessionTable;
  device: DeviceTable;
  host: HostTable;
  node: NodeTable;
  host_session: HostSessionTable;
  share: ShareTable;
  launch: LaunchTable;
  run: RunTable;
  run_result: { run_id: string; json: Json };
  /** PostgreSQL's. */
  kept_chunk: { run_id: string; first: number; header: Json; size_bytes: number; packed: Buffer };
  kept_log: { run_id: string; user_id: string; bytes: number };
  project: ProjectTable;
  project_ref: { project_id: string; name: string; target: string };
  /** PostgreSQL's, with the number of each run's last stored log entry. */
  log_progress: { run_id: string; seq: number };
  log_table: LogTableTable;
  project_pack: ProjectPackTable;
  /** Large packs that no project has any more. */
  large_pack_removal: { large_key: string; removed_at: EpochMs };
  project_member: { project_id: string; user_id: string; role: MemberRole };
  record: RecordTable;
  record_screen: RecordScreenTable;
  record_tally: RecordTallyTable;
  capture_deletion: { record_id: string };
  stored_bytes: { user_id: string; kind: StoredKind; bytes: number };
  audit_entry: AuditEntryTable;
  /** Who may read of an entry beside administrators. */
  audit_reader: { user_id: string; entry_id: string };
}

export type Db = Kysely<Database>;
export type Transaction = KyselyTransaction<Database>;

/** A row as it is read. */
export type Row<Table extends keyof Database> = Selectable<Database[Table]>;

export type StoredKind = 'captures' | 'projects' | 'logs';

interface UserTable {
  id: string;
  name: string;
  /** See `nameKey`: unique. */
  name_key: string;
  role: 'admin' | 'user';
  created_at: EpochMs;
  /** Null: they may come in. */
  disabled_at: EpochMs | null;
}

interface TokenTable {
  id: string;
  user_id: string;
  name: string;
  /** Of its secret. */
  hash: string;
  scopes: Json;
  project_ids: Json | null;
  created_at: EpochMs;
  expires_at: EpochMs | null;
  last_used_at: EpochMs | null;
  /** The token that it was made with. */
  parent_id: string | null;
}

interface SessionTable {
  /** Of the secret in the cookie. */
  hash: string;
  token_id: string;
  created_at: EpochMs;
  used_at: EpochMs;
}

interface DeviceTable {
  id: string;
  owner_id: string;
  serial: string;
  host_id: string;
  host_name: string;
  brand: string;
  model: string;
  android_version: string;
  sdk_version: number;
  screen_width: number;
  screen_height: number;
  /** When what a host says of it was last stored. */
  last_seen_at: EpochMs;
  /** What its host last said, as long as the connection of this epoch is its host's. */
  state: ReportedDeviceState;
  reason: string;
  /** When the state began. */
  since: EpochMs;
  /** Null: of an older release. */
  epoch: number | null;
}

interface HostTable {
  owner_id: string;
  id: string;
  /** As the host wrote it. */
  given_id: Generated<string>;
  name: Generated<string>;
  /** That it connected with; null when it was revoked. */
  token_id: string | null;
  seen_at: EpochMs;
}

/** A server that is alive. */
interface NodeTable {
  id: string;
  started_at: EpochMs;
  /** By the clock of the database; null: it has the database to itself. */
  lease_until: EpochMs | null;
}

/** The newest connection of a host. */
interface HostSessionTable {
  /** A later connection has a greater one. */
  epoch: Generated<number>;
  owner_id: string;
  host_id: string;
  /** The server that has it; null when that is gone. */
  node_id: string | null;
  opened_at: EpochMs;
  /** Null: it is connected. */
  ended_at: EpochMs | null;
  /** Whether it covers what a launch says must not be seen. */
  knows_masks: Generated<Flag>;
}

/** What is shared: a phone, or all phones of a host. Two owners may have hosts of one ID. */
interface ShareTable {
  owner_id: string;
  kind: 'device' | 'host';
  target_id: string;
  user_id: string;
  role: ShareRole;
}

interface LaunchTable {
  id: string;
  user_id: string;
  launch_id: string | null;
  /** Hash of the request, to tell a repetition from another request under the same launch ID. */
  fingerprint: string;
  /** Of the `LaunchAnswer` of a launch of which something did not start. */
  answer: Json | null;
  /** Of the token that the launch was asked for with, which may be gone by now. */
  token_name: string | null;
  /** As it was called then; null for direct code. */
  project_name: string | null;
  /** Git's hash of the project's saved files. */
  tree: string | null;
  /** Of `{automation_parameters, job_variables}`. */
  parameters: Json | null;
  created_at: EpochMs;
}

interface RunTable {
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
}

interface ProjectTable {
  id: string;
  owner_id: string;
  name: string;
  /** See `nameKey`: unique among those of an owner. */
  name_key: string;
  created_at: EpochMs;
  size_bytes: Generated<number>;
  /** Grows with every change of its files, commits, branches and tags. */
  version: Generated<number>;
  /** Trees of git: the saved files, and what was compiled of them; and the newest commit. */
  files: string | null;
  compiled: string | null;
  head: string | null;
}

/** A pack of git: in its row, or beside it in the store of large packs. */
interface ProjectPackTable {
  project_id: string;
  /** That it came with. */
  version: number;
  part: number;
  /** The checksum that ends it. */
  hash: string;
  size_bytes: number;
  large_key: string | null;
  pack: Buffer | null;
  pack_index: Buffer | null;
}

interface RecordTable {
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
}

type CaptureState = 'none' | 'expected' | 'stored';

interface RecordScreenTable {
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
}

/** A node of the tree in which the records of a list are counted; a column for each cell. */
type RecordTallyTable = { list: string; node: string; is_split: Flag; n: number } & Record<
  `c${number}`,
  number
>;

interface AuditEntryTable {
  /** UUIDv7. */
  id: string;
  action: AuditAction;
  outcome: AuditOutcome;
  code: string | null;
  user_id: string | null;
  user_name: string | null;
  token_id: string | null;
  token_name: string | null;
  address: string | null;
  subject_type: AuditSubject['type'] | null;
  subject_id: string | null;
  subject_name: string | null;
  /** Of an object. */
  details: Json;
  count: number;
  request_id: string | null;
}

/** What is in one of the tables of log entries, `log_0` to `log_15`. PostgreSQL's. */
interface LogTableTable {
  slot: number;
  /** Grows with every table that is opened. */
  no: number;
  state: 'empty' | 'open' | 'closed' | 'kept';
  begun_at: EpochMs;
  /** Of its newest entry; 0 while it is open. */
  newest: EpochMs;
  /** Of its last entry; while it is open, of the last one that was in the table before. Stays when it is emptied. */
  last_id: string;
}
