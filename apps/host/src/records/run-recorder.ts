import type {
  AgentCallParams,
  AgentCallResult,
  RecordType,
  ScreenTree,
  SubmitResult,
} from '@phalanx/protocol';
import type { Logger } from 'pino';

import { makeParcel } from './make-parcel.ts';
import type { RecordParcel } from './record-parcel.ts';
import { ScreenCollector, type ScreenCollectorOptions } from './screen-collector.ts';
import { isSubmittedType, problemOf, type SubmitOrder } from './submit-order.ts';
import type { KeptScreen } from './kept-screen.ts';
import { createUuidV7 } from './uuid-v7.ts';

export interface RunRecorderOptions extends ScreenCollectorOptions {
  runId: string;
  /** Resolves with the record's size in bytes when it is on disk. */
  put: (parcel: RecordParcel) => Promise<number>;
  log: Logger;
}

/**
 * Collects the screens of one run and makes records of them. A record holds the run's last screens, also those that an
 * earlier record has shown, because they are what led there. Only `debug` records, which come often, leave them out.
 */
export class RunRecorder {
  readonly #options: RunRecorderOptions;
  readonly #screens: ScreenCollector;
  /** Number of the last screen that a `debug` record has shown. */
  #shownScreen = 0;
  #records = 0;
  #diskBytes = 0;

  constructor(options: RunRecorderOptions) {
    this.#options = options;
    this.#screens = new ScreenCollector(options);
  }

  keepTree(tree: ScreenTree): ScreenTree {
    return this.#screens.keepTree(tree);
  }

  storeScreen(
    params: AgentCallParams<'record.screen'>,
    signal: AbortSignal,
  ): Promise<AgentCallResult<'record.screen'>> {
    return this.#screens.store(params, signal);
  }

  /** Resolves when the record is safe on disk. */
  async submit(order: SubmitOrder, signal: AbortSignal): Promise<SubmitResult> {
    const { type, tag } = order;
    const problem = problemOf(order) ?? this.#problemWithLimits();
    if (problem !== undefined || !isSubmittedType(type)) return { success: false, error: problem ?? '' };
    this.#records += 1;
    if (this.#screens.list().length === 0) await this.#screens.look(signal);
    return this.#write(type, type === 'debug' ? (tag ?? null) : null);
  }

  /** The run came to a bad end: its last screens, and what the phone shows now. */
  async recordEnd(type: 'crash' | 'timeout', signal: AbortSignal): Promise<void> {
    await this.#screens.look(signal);
    await this.#write(type, null);
  }

  /** Lets go of all screens. */
  close(): void {
    this.#screens.clear();
  }

  async #write(type: RecordType, tag: string | null): Promise<SubmitResult> {
    const { runId, clock, put, log } = this.#options;
    const newest = this.#screens.list().at(-1)?.number ?? 0;
    await this.#screens.settle();
    const record_id = createUuidV7(clock.now());
    const parcel = makeParcel({ record_id, run_id: runId, type, tag }, this.#screensFor(type, newest));
    try {
      this.#diskBytes += await put(parcel);
      if (type === 'debug') this.#shownScreen = newest;
      log.info({ runId, recordId: record_id, type, screens: parcel.report.screens.length }, 'Record made');
      return { success: true, id: record_id };
    } catch (error) {
      log.error({ err: error, runId, type }, 'A record could not be written to disk');
      const message = 'The host could not write the record to its data folder. Is its disk full?';
      return { success: false, error: message };
    }
  }

  /** What was stored after the submit does not belong to it. */
  #screensFor(type: RecordType, newest: number): KeptScreen[] {
    const screens = this.#screens.list().filter(({ number }) => number <= newest);
    const unseen = screens.filter(({ number }) => number > this.#shownScreen);
    return type === 'debug' && unseen.length > 0 ? unseen : [...screens];
  }

  #problemWithLimits(): string | undefined {
    const { recordsPerRun, runDiskBytes } = this.#options.limits;
    if (this.#records >= recordsPerRun) return `One run may submit ${recordsPerRun} records at most.`;
    if (this.#diskBytes < runDiskBytes) return undefined;
    return `The records of one run may take ${Math.ceil(runDiskBytes / 1024 / 1024)} MB at most.`;
  }
}
