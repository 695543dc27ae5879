/**
 * Messages that a host and the server exchange over the host's WebSocket. Text frames contain one JSON message. Binary
 * frames, sent by the host only, contain a JSON header, a line feed, and a payload.
 *
 * Connecting: the host opens `GET /api/v2/hosts/connect` with its token (scope `host`) and sends its whole state as
 * `hello`. The server answers with `welcome`, and sends commands only after it. After a reconnection, the host repeats
 * everything that it was not told to forget (`runs_stored`, `logs_stored`, `record_stored`), so nothing is lost. The
 * server knows what it has stored, so nothing is stored twice.
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

/** Version of the messages. Increment it when a change is incompatible with an older server. */
export const hostProtocolVersion = 9;
/**
 * Oldest supported version. A server supports hosts of its own version and of the previous two, so that it can be
 * upgraded first.
 */
export const oldestHostProtocolVersion = hostProtocolVersion - 2;
export const hostConnectPath = '/api/v2/hosts/connect';

/** Maximum size of a host's frame, in bytes. A larger frame closes the connection before it is read. */
export const maxFrameBytes = 8 * 1024 * 1024;
/** Maximum size of a host's text frame, in bytes. */
export const maxTextFrameBytes = 2 * 1024 * 1024;
/** Size in bytes below which hosts keep a text frame, well under the limit. */
export const pageBytes = 512 * 1024;
/** Maximum size of a server's frame in bytes. It carries code and its source map. */
export const maxServerFrameBytes = 192 * 1024 * 1024;
/** Maximum number of entries in one `logs` frame. */
export const maxLogEntriesPerFrame = 1000;

/** WebSocket close codes of the server (4000–4999 are private to an application, RFC 6455 section 7.4.2). */
export const closeCodes = {
  /** RFC 6455: the service can't process the host's messages at the moment. */
  tryAgainLater: 1013,
  /** This server shuts down while others stay up, so the host has to reconnect (registered with IANA). */
  serviceRestart: 1012,
  /** Another connection of this host has replaced this one. */
  replaced: 4000,
  /** Invalid message, or `hello` with another protocol version. */
  protocolError: 4002,
  /** This host may not connect with this token; the close reason explains why. */
  refused: 4001,
  /** Revoked or expired token. */
  unauthorized: 4003,
} as const;

const text = Type.String({ maxLength: 500 });
const mark = Type.String({ maxLength: 64 });
/** Maximum of a phone's counts, within the range of database columns. */
const count = Type.Integer({ minimum: 0, maximum: 1_000_000 });

/** Report of a host about a phone. */
export const DeviceReport = Type.Object({
  serial: Type.String({ minLength: 1, maxLength: 200 }),
  /** Whether `serial` is the phone's own. False: the host made the name up. Default: true. */
  has_own_number: Type.Optional(Type.Boolean()),
  /** Mark of the phone until its next factory reset. Only copies of one phone share it. Missing: unknown. */
  phone_mark: Type.Optional(mark),
  /** Mark of the phone until its next restart. Missing: unknown. */
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
  /** Battery level in steps of five percent. Missing: unknown, or no battery. */
  battery_percent: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
  /** Warnings about the phone. Missing: none. */
  warnings: Type.Optional(Type.Array(PhoneWarning, { maxItems: 20 })),
});
export type DeviceReport = Static<typeof DeviceReport>;

/** State of a run as reported by its host. The last report of a run is its end. */
export const RunReport = Type.Object({
  run_id: Uuid,
  status: RunStatus,
  /** Whether the host has loaded the code of a `starting` run, and waits for `begin`. From version 7 on. */
  is_loaded: Type.Optional(Type.Boolean()),
  error: Type.Union([RunError, Type.Null()]),
  /** Outcome of the run when it says more than the status. */
  outcome: Type.Optional(RunOutcome),
  /** JSON text that the run has passed to `agent.control.setResult`. Only in the report of an end. */
  result: Type.Optional(Type.String({ maxLength: maxRunResultBytes })),
  /**
   * Set in the report of an end while the service has not stored the whole log. A report without it follows once the
   * log is stored.
   */
  log_left: Type.Optional(Type.Boolean()),
  /** App whose screens the run read most often. Only in the report of an end. */
  app: Type.Optional(RunApp),
  started_at: Type.Union([EpochMs, Type.Null()]),
  ended_at: Type.Union([EpochMs, Type.Null()]),
});
export type RunReport = Static<typeof RunReport>;

/** Maximum numbers per host, for all pages of its `hello` together. */
export const maxOfHost = { devices: 10_000, runs: 100_000 };

const devices = Type.Array(DeviceReport, { maxItems: maxOfHost.devices });
const runs = Type.Array(RunReport, { maxItems: maxOfHost.runs });

export const HostMessage = Type.Union([
  Type.Object({
    type: Type.Literal('hello'),
    protocol_version: Type.Integer(),
    /** ID of the host, generated once and kept in its data folder. */
    host_id: Uuid,
    host_name: Type.String({ minLength: 1, maxLength: 200 }),
    devices,
    /** Runs that the host has not been told to forget, running or ended. */
    runs,
    /** Whether the list continues in `hello_more`. From version 3 on. */
    more: Type.Optional(Type.Boolean()),
    /** Whether the host replays saved screens. */
    replays: Type.Optional(Type.Boolean()),
  }),
  /** Further phones and runs of `hello`. The last page has no `more`; the server answers `welcome` only after it. */
  Type.Object({ type: Type.Literal('hello_more'), devices, runs, more: Type.Optional(Type.Boolean()) }),
  /** New or changed phones. */
  Type.Object({ type: Type.Literal('devices'), devices }),
  /** Sent every `heartbeat_ms`. `ready` lists the serials of the phones that answered since the previous heartbeat. */
  Type.Object({
    type: Type.Literal('heartbeat'),
    sent_at: EpochMs,
    ready: Type.Array(Type.String({ maxLength: 200 }), { maxItems: 10_000 }),
    /**
     * Sentence that explains why the host finds no phones, and what to do. Missing: it finds some, or none is
     * connected.
     */
    problem: Type.Optional(text),
  }),
  /** Runs that are loaded, have started or have ended. Acknowledges a launch or a stop. */
  Type.Object({ type: Type.Literal('runs'), runs }),
  /**
   * Record without its captures. Sent again after a reconnection until `record_stored` has come and every capture that
   * it names was sent.
   */
  Type.Object({ type: Type.Literal('record'), record: RecordReport }),
  /** Answer to a request that failed. */
  Type.Object({
    type: Type.Literal('request_failed'),
    request_id: Uuid,
    message: Type.String({ maxLength: 2000 }),
  }),
]);
export type HostMessage = Static<typeof HostMessage>;

/**
 * Value in the place of an entry's level that marks a step; its message is the JSON of a `WireStep`. From version 8 on.
 */
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

/** Maximum number of a log entry; larger numbers are not exact. */
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

/** Code of a launch. `content` is null when the host already has it under its hash (see `RecentBundles`). */
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
  /** Answer to a heartbeat, by which the host corrects its clock. */
  Type.Object({ type: Type.Literal('heartbeat'), sent_at: EpochMs, server_time: EpochMs }),
  /** Starts code on phones. Sent once per host. */
  Type.Object({
    type: Type.Literal('launch'),
    automation_id: Type.String(),
    bundle: LaunchBundle,
    automation_parameters: JsonObject,
    job_variables: JsonObject,
    /** Parts of the screens of these phones that must not leave the host during the runs. From version 6 on. */
    masks: Type.Optional(ScreenMasks),
    /** Secrets that only this code may read, by name. Default: none. From version 8 on. */
    secrets: Type.Optional(LaunchSecrets),
    /** Whether to film each run. Default: false. */
    film: Type.Optional(Type.Boolean()),
    /** Settings to apply to the phones before the code starts. Default: none. */
    phone_settings: Type.Optional(PhoneSettings),
    /** Apps that the code may use. Default: all. From version 9 on. */
    app_limit: Type.Optional(AppLimit),
    /** Time in milliseconds that the server waits for these runs to be loaded. Default: 10,000. */
    start_within_ms: Type.Optional(Type.Integer({ minimum: 0 })),
    runs: Type.Array(
      Type.Object({
        run_id: Uuid,
        device_id: Id,
        serial: Type.String(),
        /** User who launched the run, as in `HostTouch.by`. From version 9 on. */
        by: Type.Optional(Type.String({ maxLength: 100 })),
      }),
    ),
  }),
  /**
   * Starts the first lines of these runs, which are stored as running. Answers `is_loaded`; a run that was canceled
   * meanwhile gets `stop` instead. From version 7 on; hosts of earlier versions start by themselves.
   */
  Type.Object({
    type: Type.Literal('begin'),
    runs: Type.Array(Type.Object({ run_id: Uuid, started_at: EpochMs })),
  }),
  /** Ends runs. The host reports an unknown or ended run again in its current state. */
  Type.Object({ type: Type.Literal('stop'), run_ids: Type.Array(Uuid) }),
  /** Acknowledges all entries of the run up to `seq`; the host forgets them. */
  Type.Object({ type: Type.Literal('logs_stored'), run_id: Uuid, seq: Type.Integer({ minimum: 0 }) }),
  /** Acknowledges the ends of these runs; the host forgets them. */
  Type.Object({ type: Type.Literal('runs_stored'), run_ids: Type.Array(Uuid) }),
  /**
   * Acknowledges a record that is stored, or that can never be. The host sends the named captures (`putCapture`),
   * forgets all others, and forgets the record with the last capture.
   */
  Type.Object({
    type: Type.Literal('record_stored'),
    record_id: Uuid,
    missing: Type.Array(Type.Object({ screen_id: Uuid, kind: CaptureKind })),
  }),
  HostQuestion,
]);
export type ServerMessage = Static<typeof ServerMessage>;

/**
 * Maximum length of a cached bundle, in UTF-16 units of code and source map. Larger bundles are sent with every launch.
 */
export const maxKeptBundleLength = 1024 * 1024;
const maxKept = 32;

/**
 * Cache of the bundles that were used last on one connection between server and host. Both ends update it by the same
 * rule and see the same launches in the same order, so the server knows what the host has cached without asking.
 */
export class RecentBundles<Value> {
  readonly #kept = new Map<string, Value>();

  /** Returns a cached bundle. This counts as a use. */
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
