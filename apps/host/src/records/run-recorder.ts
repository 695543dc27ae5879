import {
  type AgentCallName,
  type AgentCallParams,
  type AgentCallResult,
  type RecordType,
  type RunApp,
  type RunError,
  type ScreenTree,
  type SubmitResult,
  defaultTag,
  maxCaptureBytes,
  type RecordReport,
  type ScreenReport,
  type RecordedApp,
} from '@phalanx/protocol';
import type { Logger } from 'pino';
import { v7 as uuidv7 } from 'uuid';
import type { EncodedPicture } from '../driver/pictures/encode-picture.ts';
import type { RateLimit } from './record-limits.ts';
import { TokenBucket } from '../time/token-bucket.ts';
import type { KeptScreen } from './screen-window.ts';
import type { OutgoingRecord, Capture } from './outgoing/record-outbox.ts';
import type { SeenScreens } from './seen-screens.ts';
import { ScreenCollector, type ScreenCollectorOptions } from './screen-collector.ts';
import { isSubmittedType, problemOf, type SubmitOrder } from './outgoing/submit-order.ts';
import type { PhoneCamera } from './phone-camera.ts';

/** Screen with its picture encoded for sending. */
type FinishedScreen = Omit<KeptScreen, 'picture'> & { readonly picture: EncodedPicture | undefined };

type About = Pick<RecordReport, 'record_id' | 'run_id' | 'type' | 'tag' | 'error' | 'app'>;

export interface RunRecorderOptions extends ScreenCollectorOptions {
  runId: string;
  /** Stores a record on disk. Resolves with its size in bytes. */
  put: (outgoing: OutgoingRecord) => Promise<number>;
  log: Logger;
}

/**
 * Collects the screens of one run and makes records of them. A record contains the run's last screens, including those
 * of earlier records, because they show what led there. Only `debug` records, which are frequent, omit screens that an
 * earlier `debug` record contains.
 */
export class RunRecorder {
  readonly #options: RunRecorderOptions;
  readonly #screens: ScreenCollector;
  /** Number of the last screen that a `debug` record contained. */
  #shownScreen = 0;
  readonly #apps: RunApps;
  readonly #records: TokenBucket;
  readonly #diskBytes: TokenBucket;

  constructor(options: RunRecorderOptions) {
    this.#options = options;
    this.#records = bucketOf(options.limits.runRecords);
    this.#diskBytes = bucketOf(options.limits.runDiskBytes);
    this.#screens = new ScreenCollector(options);
    this.#apps = new RunApps(options.camera, options.limits.appMs);
  }

  /** Screens that the automation has read recently, for its steps. */
  get seen(): SeenScreens {
    return this.#screens.seen;
  }

  keepTree(tree: ScreenTree): ScreenTree {
    this.#apps.read(tree.packageName);
    return this.#screens.keepTree(tree);
  }

  storeScreen(
    params: AgentCallParams<'record.screen'>,
    signal: AbortSignal,
  ): Promise<AgentCallResult<'record.screen'>> {
    return this.#screens.store(params, signal);
  }

  /** Notes the begin of a call that may change the phone. */
  noteCall(name: AgentCallName, params: object): void {
    this.#screens.noteCall(name, params);
  }

  /** Resolves with the main app of the run and its version; undefined when unknown. */
  mainApp(): Promise<RunApp | undefined> {
    return this.#apps.main();
  }

  /** Resolves when the record is durably on disk. */
  async submit(order: SubmitOrder, signal: AbortSignal): Promise<SubmitResult> {
    const { type, tag } = order;
    const problem = problemOf(order) ?? this.#problemWithLimits();
    if (problem !== undefined || !isSubmittedType(type)) return { success: false, error: problem ?? '' };
    this.#records.take(1);
    if (this.#screens.list().length === 0) await this.#screens.look(signal);
    return this.#write(type, type === 'debug' ? (tag ?? null) : null);
  }

  /** Records a failed run: its last screens, and the phone's current screen. */
  async recordEnd(type: 'crash' | 'timeout', error: RunError | null, signal: AbortSignal): Promise<void> {
    await this.#screens.look(signal);
    await this.#write(type, null, { error, isEnd: true });
  }

  /** Drops all screens. */
  close(): void {
    this.#screens.clear();
  }

  async #write(
    type: RecordType,
    tag: string | null,
    { error, isEnd }: { error: RunError | null; isEnd: boolean } = { error: null, isEnd: false },
  ): Promise<SubmitResult> {
    const { runId, clock, put, log } = this.#options;
    const newest = this.#screens.list().at(-1)?.number ?? 0;
    const packageName = this.#screens.list().at(-1)?.packageName;
    const [app] = await Promise.all([
      packageName === undefined ? null : this.#apps.of(packageName),
      this.#screens.settle(),
    ]);
    const record_id = uuidv7({ msecs: clock.now() });
    const kept = isEnd ? await this.#screens.listWithSeen() : this.#screensFor(type, newest);
    const screens = await Promise.all(kept.map(finishScreen));
    const outgoing = makeOutgoingRecord({ record_id, run_id: runId, type, tag, error, app }, screens);
    try {
      this.#diskBytes.take(await put(outgoing));
      if (type === 'debug') this.#shownScreen = newest;
      log.info({ runId, recordId: record_id, type, screens: outgoing.report.screens.length }, 'Record made');
      return { success: true, id: record_id };
    } catch (cause) {
      log.error({ err: cause, runId, type }, 'A record could not be written to disk');
      const message = 'The host could not write the record to its data folder. Is its disk full?';
      return { success: false, error: message };
    }
  }

  /** Returns the screens of a record. Screens that were stored after the submit do not belong to it. */
  #screensFor(type: RecordType, newest: number): KeptScreen[] {
    const screens = this.#screens.list().filter(({ number }) => number <= newest);
    const unseen = screens.filter(({ number }) => number > this.#shownScreen);
    return type === 'debug' && unseen.length > 0 ? unseen : [...screens];
  }

  #problemWithLimits(): string | undefined {
    const { runRecords, runDiskBytes } = this.#options.limits;
    const recordsWaitMs = this.#records.waitMs(1);
    if (recordsWaitMs > 0)
      return `One run may submit ${runRecords.atOnce} records at once and ${runRecords.perMinute} a minute after that: ${nextIn(recordsWaitMs)}`;
    const bytesWaitMs = this.#diskBytes.waitMs(1);
    if (bytesWaitMs === 0) return undefined;
    return `The records of one run may take ${inMb(runDiskBytes.atOnce)} at once and ${inMb(runDiskBytes.perMinute)} a minute after that: ${nextIn(bytesWaitMs)}`;
  }
}

const nextIn = (waitMs: number): string => `the next is allowed in ${Math.ceil(waitMs / 1000)} s.`;
const inMb = (sizeBytes: number): string => `${Math.ceil(sizeBytes / 1024 / 1024)} MB`;

/** Finishes the picture of a screen. A black, unreadable or too large picture is dropped. */
async function finishScreen(screen: KeptScreen): Promise<FinishedScreen> {
  const picture = await screen.picture?.finish().catch(() => undefined);
  const fits = picture !== undefined && picture.data.byteLength <= maxCaptureBytes;
  return { ...screen, picture: fits ? picture : undefined };
}

/** Makes a record of the screens in their current state. */
function makeOutgoingRecord(about: About, screens: readonly FinishedScreen[]): OutgoingRecord {
  const { tag } = about;
  return {
    report: {
      ...about,
      tag: tag === defaultTag ? null : tag,
      screens: screens.map(reportOf),
      is_cut_short: false,
    },
    captures: screens.flatMap(capturesOf),
  };
}

function reportOf({ tree, picture, ...screen }: FinishedScreen): ScreenReport {
  return {
    screen_id: screen.screenId,
    next_stage: screen.nextStage,
    screen_state: screen.screenState,
    max_steps: screen.maxSteps,
    timestamp: screen.timestamp,
    has_tree: tree !== undefined,
    screenshot:
      picture === undefined
        ? null
        : {
            width: picture.width,
            height: picture.height,
            original_width: picture.originalWidth,
            original_height: picture.originalHeight,
          },
    screenshot_failed: screen.wantsPicture && picture === undefined,
    ...(screen.calls.length > 0 && { calls: [...screen.calls] }),
  };
}

function capturesOf({ screenId, tree, picture }: FinishedScreen): Capture[] {
  return [
    ...(tree === undefined ? [] : [{ screenId, kind: 'tree' as const, bytes: tree }]),
    ...(picture === undefined ? [] : [{ screenId, kind: 'screenshot' as const, bytes: picture.data }]),
  ];
}

/** Maximum number of apps per run. A run that reads more apps reports one of these. */
const maxApps = 50;

/**
 * Apps of one run. The version of each is read once: it only changes when the app is installed, which is rare during
 * its use.
 */
class RunApps {
  readonly #camera: Pick<PhoneCamera, 'readApp'>;
  readonly #limitMs: number;
  /** Number of readings of each app's screens. */
  readonly #readings = new Map<string, number>();
  readonly #versions = new Map<string, string | null>();

  constructor(camera: Pick<PhoneCamera, 'readApp'>, limitMs: number) {
    this.#camera = camera;
    this.#limitMs = limitMs;
  }

  read(packageName: string): void {
    const count = this.#readings.get(packageName) ?? 0;
    if (count > 0 || this.#readings.size < maxApps) this.#readings.set(packageName, count + 1);
  }

  /** Returns the facts of an app from the phone; only its name when the phone does not answer in time. */
  async of(packageName: string): Promise<RecordedApp> {
    const signal = AbortSignal.timeout(this.#limitMs);
    const nothing = { package: packageName.slice(0, 255), activity: null, version: null, language: null };
    const app = await this.#camera.readApp(packageName, signal).catch(() => nothing);
    if (app !== nothing) this.#versions.set(packageName, app.version);
    return app;
  }

  /** Returns the app whose screens were read most often, with its version; undefined when there is none. */
  async main(): Promise<RunApp | undefined> {
    const [busiest] = [...this.#readings].toSorted(([, one], [, other]) => other - one);
    if (busiest === undefined) return undefined;
    const [name] = busiest;
    const version = this.#versions.has(name) ? this.#versions.get(name) : (await this.of(name)).version;
    return version === null || version === undefined ? undefined : { package: name, version };
  }
}

const bucketOf = ({ atOnce, perMinute }: RateLimit): TokenBucket => new TokenBucket(perMinute / 60, atOnce);
