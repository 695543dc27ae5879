/**
 * Messages that a host and the server exchange over the host's WebSocket. Text frames hold one JSON message.
 * Binary frames, sent by the host only, hold a JSON header, a line feed, and a payload.
 *
 * A connection: the host opens `GET /api/v2/hosts/connect` with its token (scope `host`) and says `hello` with
 * all that it holds; the server answers `welcome`; only then does the server send commands. The host repeats
 * after a break everything that it was not told to forget (`runs_stored`, `logs_stored`, `record_stored`), so
 * nothing is lost; the server knows what it has stored, so nothing is stored twice.
 */
import { Type, type Static } from 'typebox';
import { ReportedDeviceState, PhoneWarning } from '../phones/phone-health.ts';
import { PhoneSettings } from '../phones/phone-settings.ts';
import { AppLimit } from '../phones/app-limit.ts';
import { HostAnswerHeader, HostQuestion } from './host-questions.ts';
import { EpochMs, Id, Uuid } from '../ids.ts';
import { logLevels } from '../rest/runs/logs.ts';
import { ScreenMasks } from '../masks.ts';
import { JsonObject } from '../rest/contract.ts';
import { CaptureKind, RecordReport, RunApp } from '../runs/records.ts';
import { LaunchSecrets } from '../secrets.ts';
import { RunError, RunOutcome, RunStatus } from '../runs/runs.ts';
import { maxRunResultBytes } from '../runs/run-limits.ts';

/** Raised when the messages change so that an older server can't follow. */
export const hostProtocolVersion = 9;
/** A server follows hosts of its own version and of the two before, so that it can be brought up to date first. */
export const oldestHostProtocolVersion = hostProtocolVersion - 2;
export const hostConnectPath = '/api/v2/hosts/connect';

/** A larger frame of a host closes the connection, before it is read. */
export const maxFrameBytes = 8 * 1024 * 1024;
/** The same for a text frame. */
export const maxTextFrameBytes = 2 * 1024 * 1024;
/** Size that hosts keep a text frame below, well under the limit. */
export const pageBytes = 512 * 1024;
/** The same for a frame of the server, which carries code and its source map. */
export const maxServerFrameBytes = 192 * 1024 * 1024;
/** Entries in one `logs` frame. */
export const maxLogEntriesPerFrame = 1000;

/** WebSocket close codes of the server (4000–4999 are private to an application, RFC 6455 section 7.4.2). */
export const closeCodes = {
  /** RFC 6455: the service can't take what the host says just now. */
  tryAgainLater: 1013,
  /** This server stops, and others go on: the host is to connect again (registered with IANA). */
  serviceRestart: 1012,
  /** The same host has connected again. */
  replaced: 4000,
  /** A message that does not fit this file, or a `hello` of another protocol version. */
  protocolError: 4002,
  /** This host may not connect with this token; the reason says why. */
  refused: 4001,
  /** The token was revoked or has expired. */
  unauthorized: 4003,
} as const;

const text = Type.String({ maxLength: 500 });
const mark = Type.String({ maxLength: 64 });
/** Databases have no larger numbers in columns of any phone. */
const count = Type.Integer({ minimum: 0, maximum: 1_000_000 });

/** A phone as its host sees it. */
export const DeviceReport = Type.Object({
  serial: Type.String({ minLength: 1, maxLength: 200 }),
  /** Whether `serial` is the phone's own. False: a name that this host gave it. Missing: true. */
  has_own_number: Type.Optional(Type.Boolean()),
  /** Equal ones are of one phone, or of copies of it; it lasts until a factory reset. Missing: not known. */
  phone_mark: Type.Optional(mark),
  /** The same; it lasts until a restart of the phone. */
  boot_mark: Type.Optional(mark),
  state: ReportedDeviceState,
  reason: Type.String({ maxLength: 2000 }),
  since: EpochMs,
  brand: text,
  model: text,
  android_version: text,
  sdk_version: count,
  screen_width: count,
  screen_height: count,
  /** In steps of five. Missing: not known, or it has no battery. */
  battery_percent: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
  /** Missing: none. */
  warnings: Type.Optional(Type.Array(PhoneWarning, { maxItems: 20 })),
});
export type DeviceReport = Static<typeof DeviceReport>;

/** State of a run as its host reports it. The last report of a run is its end. */
export const RunReport = Type.Object({
  run_id: Uuid,
  status: RunStatus,
  /** True when the host holds the code of a `starting` run, and waits for `begin`. From version 7 on. */
  is_loaded: Type.Optional(Type.Boolean()),
  error: Type.Union([RunError, Type.Null()]),
  /** Outcome of the run, when it says more than the status. */
  outcome: Type.Optional(RunOutcome),
  /** JSON text of what the run gave to `agent.control.setResult`, of an end. */
  result: Type.Optional(Type.String({ maxLength: maxRunResultBytes })),
  /**
   * Set in the report of an end while the service has not stored the whole log. A report without it follows
   * when it has.
   */
  log_left: Type.Optional(Type.Boolean()),
  /** The app whose screens it has read most, of an end. */
  app: Type.Optional(RunApp),
  started_at: Type.Union([EpochMs, Type.Null()]),
  ended_at: Type.Union([EpochMs, Type.Null()]),
});
export type RunReport = Static<typeof RunReport>;

/** Maximums per host, for all pages of its `hello` together. */
export const maxOfHost = { devices: 10_000, runs: 100_000 };

const devices = Type.Array(DeviceReport, { maxItems: maxOfHost.devices });
const runs = Type.Array(RunReport, { maxItems: maxOfHost.runs });

export const HostMessage = Type.Union([
  Type.Object({
    type: Type.Literal('hello'),
    protocol_version: Type.Integer(),
    /** Made once and kept in the host's data folder. */
    host_id: Uuid,
    host_name: Type.String({ minLength: 1, maxLength: 200 }),
    devices,
    /** Every run that the host has not been told to forget, running or ended. */
    runs,
    /** The list goes on in `hello_more`. From version 3 on. */
    more: Type.Optional(Type.Boolean()),
    /** The host replays saved screens. */
    replays: Type.Optional(Type.Boolean()),
  }),
  /** More phones and runs of `hello`; the last page has no `more`, and only then the server answers `welcome`. */
  Type.Object({ type: Type.Literal('hello_more'), devices, runs, more: Type.Optional(Type.Boolean()) }),
  /** Phones that are new or have changed. */
  Type.Object({ type: Type.Literal('devices'), devices }),
  /** Sent every `heartbeat_ms`. `ready`: serials of the phones that answered since the last one. */
  Type.Object({
    type: Type.Literal('heartbeat'),
    sent_at: EpochMs,
    ready: Type.Array(Type.String({ maxLength: 200 }), { maxItems: 10_000 }),
    /** Why the host finds no phones, and what to do, in a sentence. Missing: it finds some, or none is connected. */
    problem: Type.Optional(text),
  }),
  /** Runs that are loaded, have started or have ended: the acknowledgement of a launch or a stop. */
  Type.Object({ type: Type.Literal('runs'), runs }),
  /**
   * A record, whole but for its captures. Said again after a break, until `record_stored` has come and every capture
   * that it names is sent.
   */
  Type.Object({ type: Type.Literal('record'), record: RecordReport }),
  /** The answer to a request that could not be met. */
  Type.Object({
    type: Type.Literal('request_failed'),
    request_id: Uuid,
    message: Type.String({ maxLength: 2000 }),
  }),
]);
export type HostMessage = Static<typeof HostMessage>;

/** Stands where an entry has its level: the entry is a step, and its message the JSON of a `WireStep`. From version 8 on. */
export const wireStepLevel = logLevels.length;

const wireEntry = [
  EpochMs,
  Type.Integer({ minimum: 0, maximum: wireStepLevel }),
  Type.Integer({ minimum: 0 }),
  Type.String(),
] as const;

/**
 * One console entry or step on the wire: time (service clock, epoch ms), index in `logLevels` or `wireStepLevel`, line,
 * message; source file if known.
 */
export const WireLogEntry = Type.Union([
  Type.Tuple([...wireEntry, Type.String()]),
  Type.Tuple([...wireEntry]),
]);
export type WireLogEntry = Static<typeof WireLogEntry>;
export const WireLogEntries = Type.Array(WireLogEntry, { minItems: 1, maxItems: maxLogEntriesPerFrame });
export type WireLogEntries = Static<typeof WireLogEntries>;

/** Beyond it numbers are no longer exact. */
const maxLogNumber = Number.MAX_SAFE_INTEGER - maxLogEntriesPerFrame;

export const HostFrameHeader = Type.Union([
  /** Payload: JSON of `WireLogEntries`. The entries of a run are numbered from 1 without gaps. */
  Type.Object({
    type: Type.Literal('logs'),
    run_id: Uuid,
    first_seq: Type.Integer({ minimum: 1, maximum: maxLogNumber }),
  }),
  HostAnswerHeader,
]);
export type HostFrameHeader = Static<typeof HostFrameHeader>;

/** The code of a launch. `content` is null when the host has it by its hash (see `RecentBundles`). */
export const LaunchBundle = Type.Object({
  hash: Type.String({ minLength: 1, maxLength: 128 }),
  content: Type.Union([
    Type.Object({ code: Type.String(), source_map: Type.Union([Type.String(), Type.Null()]) }),
    Type.Null(),
  ]),
});
export type LaunchBundle = Static<typeof LaunchBundle>;

export const ServerMessage = Type.Union([
  Type.Object({
    type: Type.Literal('welcome'),
    server_time: EpochMs,
    heartbeat_ms: Type.Integer({ minimum: 100 }),
  }),
  /** The answer to a heartbeat: the host corrects its clock by it. */
  Type.Object({ type: Type.Literal('heartbeat'), sent_at: EpochMs, server_time: EpochMs }),
  /** Start this code on these phones. Sent once per host. */
  Type.Object({
    type: Type.Literal('launch'),
    automation_id: Type.String(),
    bundle: LaunchBundle,
    automation_parameters: JsonObject,
    job_variables: JsonObject,
    /** Parts of the screens of these phones that must not leave the host while the runs go on. From version 6 on. */
    masks: Type.Optional(ScreenMasks),
    /** Secrets that the code, and nothing else, may read by name. None when absent. From version 8 on. */
    secrets: Type.Optional(LaunchSecrets),
    /** Whether a film is to be made of each run. No film when absent. */
    film: Type.Optional(Type.Boolean()),
    /** Settings that are made on the phones before the code starts. None when absent. */
    phone_settings: Type.Optional(PhoneSettings),
    /** The only apps that the code may use. All when absent. From version 9 on. */
    app_limit: Type.Optional(AppLimit),
    /** How long the server waits for these runs to be loaded. 10,000 when absent. */
    start_within_ms: Type.Optional(Type.Integer({ minimum: 0 })),
    runs: Type.Array(
      Type.Object({
        run_id: Uuid,
        device_id: Id,
        serial: Type.String(),
        /** The launcher, as `HostTouch.by` tells users apart. From version 9 on. */
        by: Type.Optional(Type.String({ maxLength: 100 })),
      }),
    ),
  }),
  /**
   * These runs are stored as running: let their first lines run. The answer to `is_loaded`; a run that was called off
   * meanwhile is answered with `stop`. From version 7 on; hosts of earlier versions begin by themselves.
   */
  Type.Object({
    type: Type.Literal('begin'),
    runs: Type.Array(Type.Object({ run_id: Uuid, started_at: EpochMs })),
  }),
  /** End these runs. A run that the host does not know or that has ended is reported again as it is. */
  Type.Object({ type: Type.Literal('stop'), run_ids: Type.Array(Uuid) }),
  /** All entries of the run up to `seq` are stored: forget them. */
  Type.Object({ type: Type.Literal('logs_stored'), run_id: Uuid, seq: Type.Integer({ minimum: 0 }) }),
  /** The end of these runs is stored: forget them. */
  Type.Object({ type: Type.Literal('runs_stored'), run_ids: Type.Array(Uuid) }),
  /**
   * The record is stored, or can never be: send the captures that are named (`putCapture`), forget all others, and
   * with the last of them the record.
   */
  Type.Object({
    type: Type.Literal('record_stored'),
    record_id: Uuid,
    missing: Type.Array(Type.Object({ screen_id: Uuid, kind: CaptureKind })),
  }),
  HostQuestion,
]);
export type ServerMessage = Static<typeof ServerMessage>;

/** Larger bundles are sent with every launch. In UTF-16 units of code and source map. */
export const maxKeptBundleLength = 1024 * 1024;
const maxKept = 32;

/**
 * The bundles that were used last on one connection between server and host. Both ends keep this list by the same rule
 * and see the same launches in the same order, so the server knows what the host has without asking.
 */
export class RecentBundles<Value> {
  readonly #kept = new Map<string, Value>();

  /** Counts as a use. */
  find(hash: string): Value | undefined {
    const value = this.#kept.get(hash);
    if (value !== undefined) this.#use(hash, value);
    return value;
  }

  add(hash: string, length: number, value: Value): void {
    if (length > maxKeptBundleLength) return;
    this.#use(hash, value);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > maxKept && oldest !== undefined) this.#kept.delete(oldest);
  }

  #use(hash: string, value: Value): void {
    this.#kept.delete(hash);
    this.#kept.set(hash, value);
  }
}
