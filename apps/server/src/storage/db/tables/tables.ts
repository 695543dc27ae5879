import type {
  AuditAction,
  AuditOutcome,
  AuditSubject,
  MemberRole,
  ReportedDeviceState,
  ShareRole,
} from '@phalanx/protocol';
import type { Generated, Kysely, Selectable, Transaction as KyselyTransaction } from 'kysely';
import type { CachedThing, EpochMs, Flag, Json } from './column-types.ts';
import type * as records from './record-tables.ts';
import type * as work from './work-tables.ts';
import type {
  WebhookAbsenceTable,
  WebhookDeliveryTable,
  WebhookTable,
  MailUseTable,
} from './webhook-tables.ts';

/** Tables as the migrations leave them. */
export interface Database {
  user: UserTable;
  token: TokenTable;
  session: SessionTable;
  token_use: { token_id: string; day: number; runs: number; run_ms: number };
  sign_in_link: { hash: string; token_id: string; expires_at: EpochMs };
  device: DeviceTable;
  host: HostTable;
  node: NodeTable;
  host_session: HostSessionTable;
  share: ShareTable;
  label_set: LabelSetTable;
  pool: { user_id: string; name_key: string; name: string; selector: string };
  launch: work.LaunchTable;
  run: work.RunTable;
  job: work.JobTable;
  schedule: work.ScheduleTable;
  schedule_turn: work.ScheduleTurnTable;
  webhook: WebhookTable;
  webhook_delivery: WebhookDeliveryTable;
  webhook_absence: WebhookAbsenceTable;
  mail_use: MailUseTable;
  task: work.TaskTable;
  task_attempt: work.TaskAttemptTable;
  work: work.WorkTable;
  installation: {
    id: string;
    url_key: string | null;
    sealing_key_id: string | null;
    /** Name of the newest migration that earlier releases can't work with; empty when there is none. */
    needs: Generated<string>;
  };
  device_lease: DeviceLeaseTable;
  lease_code: LeaseCodeTable;
  cache_invalidation: { id: Generated<number>; name: CachedThing; at: EpochMs };
  bundle: { hash: string; code: string; source_map: string | null; used_at: EpochMs };
  launch_payload: { launch: string; bundle_hash: string; given: Json; created_at: EpochMs };
  /** Direct code as a JSON string, because databases can't store NUL in text. */
  launch_code: { launch: string; code: Json };
  run_result: { run_id: string; json: Json };
  run_file: work.RunFileTable;
  film_part: work.FilmPartTable;
  run_stat: work.RunStatTable;
  kept_chunk: work.KeptChunkTable;
  kept_log: { run_id: string; user_id: string; bytes: number };
  project: ProjectTable;
  project_secret: ProjectSecretTable;
  project_ref: { project_id: string; name: string; target: string };
  /** Number of each run's last stored log entry; with SQLite, only for runs whose entries are no longer in files. */
  log_progress: { run_id: string; seq: number };
  /** PostgreSQL only. */
  log_table: LogTableTable;
  project_pack: ProjectPackTable;
  project_member: ProjectMemberTable;
  /** Users other than the owner and editors whose hosts receive the secrets of a project. */
  secret_recipient: { project_id: string; user_id: string; added_at: EpochMs };
  record: records.RecordTable;
  record_screen: records.RecordScreenTable;
  record_group: records.RecordGroupTable;
  group_member: records.GroupMemberTable;
  group_print: records.GroupPrintTable;
  group_screen: records.GroupScreenTable;
  replay: records.ReplayTable;
  replay_draft: records.ReplayDraftTable;
  replay_verdict: records.ReplayVerdictTable;
  app_version: records.AppVersionTable;
  group_move: records.GroupMoveTable;
  group_move_record: records.GroupMoveRecordTable;
  stored_bytes: { user_id: string; kind: StoredKind; bytes: number };
  audit_entry: AuditEntryTable;
  /** Users other than administrators who may read an entry. */
  audit_reader: { user_id: string; entry_id: string };
}

export type Db = Kysely<Database>;
export type Transaction = KyselyTransaction<Database>;

/** Row as read from the database. */
export type Row<Table extends keyof Database> = Selectable<Database[Table]>;

export type StoredKind = 'captures' | 'projects' | 'logs' | 'work';

interface UserTable {
  id: string;
  name: string;
  /** Unique; see `nameKey`. */
  name_key: string;
  role: 'admin' | 'user';
  created_at: EpochMs;
  /** Time when the user was disabled; null when the user may sign in. */
  disabled_at: EpochMs | null;
}

interface TokenTable {
  id: string;
  user_id: string;
  name: string;
  /** SHA-256 of the token's secret. */
  hash: string;
  scopes: Json;
  project_ids: Json | null;
  /** Selector of the only phones that the token reaches; null for all phones of its user. */
  selector: string | null;
  max_phones: number | null;
  apps: Json | null;
  runs_per_day: number | null;
  minutes_per_day: number | null;
  created_at: EpochMs;
  expires_at: EpochMs | null;
  last_used_at: EpochMs | null;
  /** Token that created this one. */
  parent_id: string | null;
}

interface SessionTable {
  /** SHA-256 of the secret in the cookie. */
  hash: string;
  token_id: string;
  created_at: EpochMs;
  used_at: EpochMs;
}

/** Lines of code that describe what an act did during a lease. */
interface LeaseCodeTable {
  position: Generated<number>;
  device_id: string;
  lease_id: string;
  /** Number of the act, from 1 in each lease. */
  number: number;
  lines: string;
  size_bytes: number;
}

interface DeviceLeaseTable {
  device_id: string;
  id: string;
  user_id: string;
  since: EpochMs;
  duration_ms: number;
  expires_at: EpochMs;
  /** Set to 1 when even its own user needs the ID to touch the device. */
  is_exclusive: number;
}

interface DeviceTable {
  id: string;
  owner_id: string;
  /**
   * Unique per owner: the phone's own serial number, or its host and the name that the host gave it (`deviceIdentity`).
   */
  identity: string;
  /** Name that its host gave it. */
  serial: string;
  /**
   * Facts that its host last reported about the phone and its last boot, to recognize the phone; empty when unknown.
   */
  phone_mark: string;
  boot_mark: string;
  host_id: string;
  host_name: string;
  brand: string;
  model: string;
  android_version: string;
  sdk_version: number;
  screen_width: number;
  screen_height: number;
  /** Time when a report of a host about it was last stored. */
  last_seen_at: EpochMs;
  /** State that its host last reported, valid while `epoch` is the current connection of the host. */
  state: ReportedDeviceState;
  reason: string;
  /** Time when the state began. */
  since: EpochMs;
  /** JSON of the `PhoneWarning`s. */
  warnings: string;
  /** Null when unknown. */
  battery_percent: number | null;
  /** Null when no connection of its host has reported it. */
  epoch: number | null;
  /** Number of its leases that have begun or ended. */
  lease_changes: Generated<number>;
}

interface HostTable {
  owner_id: string;
  id: string;
  /** ID as spelled by the host. */
  given_id: Generated<string>;
  name: Generated<string>;
  /** Token that the host connected with; null when the token was revoked. */
  token_id: string | null;
  seen_at: EpochMs;
}

/** Server that is alive. */
interface NodeTable {
  id: string;
  started_at: EpochMs;
  /** End of the lease, by the clock of the database; null when the server has the database to itself. */
  lease_until: EpochMs | null;
}

/** Newest connection of a host. */
interface HostSessionTable {
  /** Later connections have greater epochs. */
  epoch: Generated<number>;
  owner_id: string;
  host_id: string;
  /** Server that has the connection; null when that server is dead. */
  node_id: string | null;
  opened_at: EpochMs;
  /** Null while the host is connected. */
  ended_at: EpochMs | null;
  /** Reason why the host finds no phones, and how to fix it; null when it reports none. */
  problem: Generated<string | null>;
  /** Whether the host accepts secrets and masks them. */
  knows_secrets: Generated<Flag>;
  knows_app_limits: Generated<Flag>;
  /** Whether the host replays saved screens. */
  replays: Generated<Flag>;
  /** ID of the host's last log entry, only in PostgreSQL; empty when there was none. */
  last_log_id: Generated<string>;
}

/** Share of a phone, or of all phones of a host. Contains the owner, because hosts of two owners may share one ID. */
interface ShareTable {
  owner_id: string;
  kind: 'device' | 'host';
  target_id: string;
  user_id: string;
  role: ShareRole;
  /** Null for shares from before acceptance was introduced. */
  shared_at: Generated<EpochMs | null>;
  /** Null when the user has not accepted the share. */
  accepted_at: Generated<EpochMs | null>;
}

interface ProjectMemberTable {
  project_id: string;
  user_id: string;
  role: MemberRole;
  shared_at: Generated<EpochMs | null>;
  /** Null when the user has not accepted the share. */
  accepted_at: Generated<EpochMs | null>;
}

/** Name of a phone, and labels of a phone or of all phones of a host. */
interface LabelSetTable {
  owner_id: string;
  kind: 'device' | 'host';
  target_id: string;
  /** Name of a phone; empty for a host. */
  name: string;
  labels: Json;
}

interface ProjectTable {
  id: string;
  owner_id: string;
  name: string;
  /** Unique per owner; see `nameKey`. */
  name_key: string;
  created_at: EpochMs;
  /** Time of the last change of its files, commits, branches or tags; null before the first one. */
  changed_at: EpochMs | null;
  size_bytes: Generated<number>;
  /** Increases with every change of its files, commits, branches and tags. */
  version: Generated<number>;
  /** Git hashes of the trees of the saved and the compiled files, and of the newest commit. */
  files: string | null;
  compiled: string | null;
  head: string | null;
}

interface ProjectSecretTable {
  project_id: string;
  name: string;
  version: number;
  /** See `Sealing`. */
  sealed: string;
  created_at: EpochMs;
  updated_at: EpochMs;
}

/** Git pack, stored in its row or beside it in the store of large packs. */
interface ProjectPackTable {
  project_id: string;
  /** Version of the project that the pack was added with. */
  version: number;
  part: number;
  /** Checksum at the end of the pack. */
  hash: string;
  size_bytes: number;
  large_key: string | null;
  pack: Buffer | null;
  pack_index: Buffer | null;
}

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
  /** JSON of an object. */
  details: Json;
  count: number;
  request_id: string | null;
}

/** State of one of the tables of log entries, `log_0` to `log_15`; PostgreSQL only. */
interface LogTableTable {
  slot: number;
  /** Increases with every table that is opened. */
  no: number;
  state: 'empty' | 'open' | 'closed' | 'kept';
  begun_at: EpochMs;
  /** Time of its newest entry; 0 while it is open. */
  newest: EpochMs;
  /**
   * ID of its last entry. While the table is open, ID of the last entry of its previous use. Kept when the table is
   * emptied.
   */
  last_id: string;
}
