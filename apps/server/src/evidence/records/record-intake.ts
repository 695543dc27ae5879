import {
  type RecordReport,
  captureKinds,
  defaultTag,
  type CaptureKind,
  type ScreenReport,
} from '@phalanx/protocol';
import type { Logger } from 'pino';
import type { Clock } from '../../kernel/clock.ts';
import type { Fleet } from '../../fleet/devices/fleet.ts';
import type { HostLink } from '../../fleet/hosts/host-link.ts';
import { minuteMs, dayMs } from '@phalanx/timing/durations';
import { isUuidV7, timeOfUuidV7 } from '../../kernel/uuid-v7.ts';
import type { AutomationAccess } from './access-store.ts';
import type { RecordChanges } from './record-changes.ts';
import type { RetentionLimits } from './retention/retention-store.ts';
import type { RecordStore } from './store.ts';
import type { StoredRecord, StoredScreen } from './stored-record.ts';

/** Sizes of a screen without a screenshot, whether or not it was requested. */
const noPicture = { width: 0, height: 0, original_width: 0, original_height: 0 };

/** Fields of a run that the intake needs. */
interface OriginRun {
  readonly user_id: string;
  readonly device_owner_id: string;
  readonly host_id: string;
  readonly device_id: string;
  readonly automation_id: string;
  readonly launch_id: string | null;
  readonly commit: string | null;
}

/** Name of direct code, which has no name of its own. */
const directName = 'Direct code';
/**
 * Maximum time by which a record may be in the future. A host's clock follows the service's, but not to the
 * millisecond.
 */
const maxAheadMs = minuteMs;
/** Maximum age of a record. No user still waits for records of a host that was disconnected for longer. */
const maxAgeMs = 7 * dayMs;

function timeProblem(id: string, nowMs: number): string | undefined {
  if (!isUuidV7(id)) return 'its ID is not a UUIDv7';
  const time = timeOfUuidV7(id);
  if (time > nowMs + maxAheadMs) return 'its ID lies in the future';
  return time < nowMs - maxAgeMs ? 'it is older than 7 days' : undefined;
}

function screensProblem({ screens }: RecordReport): string | undefined {
  const ids = new Set(screens.map((screen) => screen.screen_id.toLowerCase()));
  return ids.size === screens.length ? undefined : 'two of its screens have one ID';
}

interface Options {
  store: RecordStore;
  access: AutomationAccess;
  findRun: (runId: string) => Promise<OriginRun | undefined>;
  fleet: Fleet;
  clock: Clock;
  log: Logger;
  limits: RetentionLimits;
  changes: RecordChanges;
}

/** Stores the records that hosts report. */
export class RecordIntake {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Stores a record unless it is already stored, and tells the host which captures are missing. */
  async take(link: HostLink, report: RecordReport): Promise<void> {
    const missing = await this.#take(link, report);
    link.send({ type: 'record_stored', record_id: report.record_id, missing });
  }

  /**
   * Stores a record and returns its missing captures. Returns none when the host may discard the record: it is
   * complete, or can never be accepted.
   */
  async #take(link: HostLink, report: RecordReport): Promise<ExpectedCapture[]> {
    const id = report.record_id.toLowerCase();
    const runId = report.run_id.toLowerCase();
    const run = await this.#options.findRun(runId);
    if (run === undefined || run.device_owner_id !== link.userId || run.host_id !== link.hostId)
      return this.#refuse(link, id, 'its run is not a run of this host');
    // The record is looked up before its time is checked, because a stored record may be too old by now.
    const known = await this.#options.store.find(id);
    if (known !== undefined) return this.#answerKnown(link, known, runId);
    const problem = timeProblem(id, this.#options.clock.now()) ?? screensProblem(report);
    return problem === undefined ? this.#store(link, report, run) : this.#refuse(link, id, problem);
  }

  async #store(link: HostLink, report: RecordReport, run: OriginRun): Promise<ExpectedCapture[]> {
    const { store, limits, clock, changes } = this.#options;
    const origin = await this.#originOf(run, report.record_id.toLowerCase());
    if (origin === undefined) return this.#refuse(link, report.record_id, 'its project is gone');
    const { record, screens } = newRecord(report, origin);
    const { deleted } = await store.insert(record, screens, {
      limits,
      nowMs: clock.now(),
      commit: run.commit,
    });
    changes.stored(record, screens);
    changes.deleted(deleted);
    // The retention limit may have deleted the record itself when it arrives late.
    const isKept = deleted === 0 || (await store.find(record.id)) !== undefined;
    return isKept ? expectedCaptures(screens) : [];
  }

  async #originOf(run: OriginRun, id: string): Promise<RecordOrigin | undefined> {
    const automation = await this.#automationOf(run);
    if (automation === undefined) return undefined;
    const device = (await this.#options.fleet.find(run.device_id))?.stored;
    return {
      owner_id: automation.ownerId,
      automation_id: run.automation_id,
      project_id: run.launch_id === null ? run.automation_id : null,
      automation_name: automation.name,
      user_id: run.device_owner_id,
      device_id: run.device_id,
      device_info: JSON.stringify({
        brand: device?.brand ?? '',
        model: device?.model ?? '',
        device_id: run.device_id,
        android_version: device?.android_version ?? '',
      }),
      added_at: timeOfUuidV7(id),
    };
  }

  async #automationOf(run: OriginRun): Promise<{ ownerId: string; name: string } | undefined> {
    if (run.launch_id === null) return this.#options.access.findProject(run.automation_id);
    return { ownerId: run.user_id, name: directName };
  }

  async #answerKnown(
    link: HostLink,
    known: { id: string; run_id: string },
    runId: string,
  ): Promise<ExpectedCapture[]> {
    if (known.run_id !== runId) return this.#refuse(link, known.id, 'another run has a record of this ID');
    return expectedCaptures(await this.#options.store.listScreens(known.id));
  }

  #refuse(link: HostLink, id: string, reason: string): [] {
    this.#options.log.warn({ host: link.hostName, record: id, reason }, 'a record of a host was refused');
    return [];
  }
}

/** Fields of a record that the service adds to the host's report. */
type RecordOrigin = Omit<
  StoredRecord,
  | 'id'
  | 'run_id'
  | 'type'
  | 'status'
  | 'is_partial'
  | 'tag'
  | 'retention_group'
  | 'saved'
  | 'has_gap'
  | 'missing_captures'
  | 'capture_bytes'
  | 'error'
  | 'app'
>;

function screenOf(recordId: string, report: ScreenReport, position: number): StoredScreen {
  return {
    record_id: recordId,
    position,
    screen_id: report.screen_id.toLowerCase(),
    next_stage: report.next_stage,
    screen_state: report.screen_state,
    max_steps: report.max_steps,
    captured_at: report.timestamp,
    tree: report.has_tree ? 'expected' : 'none',
    screenshot: report.screenshot === null ? 'none' : 'expected',
    ...(report.screenshot ?? noPicture),
    actions: report.calls === undefined || report.calls.length === 0 ? null : JSON.stringify(report.calls),
  };
}

const captureCount = (screens: readonly ScreenReport[]): number =>
  screens.reduce((sum, screen) => sum + Number(screen.has_tree) + Number(screen.screenshot !== null), 0);

const hasGap = ({ is_cut_short: isCutShort, screens }: RecordReport): boolean =>
  isCutShort || screens.some((screen) => !screen.has_tree || screen.screenshot_failed);

const jsonOrNull = (value: object | null | undefined): string | null =>
  value === undefined || value === null ? null : JSON.stringify(value);

/** Creates the rows of a record from the host's report. */
function newRecord(
  report: RecordReport,
  origin: RecordOrigin,
): { record: StoredRecord; screens: StoredScreen[] } {
  const id = report.record_id.toLowerCase();
  // The database would return a lone surrogate as another character.
  const tag = report.type === 'debug' ? (report.tag ?? defaultTag).toWellFormed() : defaultTag;
  const missing = captureCount(report.screens);
  const record: StoredRecord = {
    ...origin,
    id,
    run_id: report.run_id.toLowerCase(),
    type: report.type,
    status: 'pending',
    is_partial: missing > 0 || hasGap(report) ? 1 : 0,
    tag,
    retention_group: report.type === 'debug' ? tag : '',
    saved: 0,
    has_gap: hasGap(report) ? 1 : 0,
    missing_captures: missing,
    capture_bytes: 0,
    error: jsonOrNull(report.error),
    app: jsonOrNull(report.app),
  };
  return { record, screens: report.screens.map((screen, position) => screenOf(id, screen, position)) };
}

/** Capture that its host has announced but not yet sent, with the field names of the wire protocol. */
interface ExpectedCapture {
  screen_id: string;
  kind: CaptureKind;
}

const expectedCaptures = (screens: readonly StoredScreen[]): ExpectedCapture[] =>
  screens.flatMap((screen) =>
    captureKinds
      .filter((kind) => screen[kind] === 'expected')
      .map((kind) => ({ screen_id: screen.screen_id, kind })),
  );
