import { mkdir } from 'node:fs/promises';
import type { Logger } from 'pino';

import type { ServerConnection } from '../connection/server-connection.ts';
import type { ServiceClock } from '../connection/service-clock.ts';
import { defaultLogLimits, type LogBudget, type LogLimits } from './log-limits.ts';
import { type Segment, SpoolFile, listSpooledRuns, recoverLog } from './spool-file.ts';
import { SpooledLog } from './spooled-log.ts';
import { onceATurn } from '../time/once-a-turn.ts';

interface LogSpoolOptions {
  /** Folder that only the spool uses. */
  dir: string;
  connection: ServerConnection;
  clock: ServiceClock;
  log: Logger;
  limits?: Partial<LogLimits>;
}

/** Holds the logs of all runs, from their first entry until the server has stored the last one. */
export class LogSpool {
  readonly #options: LogSpoolOptions;
  readonly #limits: LogLimits;
  readonly #logs = new Map<string, SpooledLog>();
  readonly #budget: LogBudget = { usedBytes: 0 };
  readonly #sender: LogSender;

  constructor(options: LogSpoolOptions) {
    this.#options = options;
    this.#limits = { ...defaultLogLimits, ...options.limits };
    this.#sender = new LogSender(options.connection, this.#limits);
    options.connection.onOnline(() => this.#logs.forEach((log) => log.wentOnline()));
    options.connection.onOffline(() => this.#wentOffline());
  }

  /** Recovers logs that an earlier process of the host left behind, for the runs that `isKnown`; deletes all others. */
  async recover(isKnown: (runId: string) => boolean): Promise<void> {
    const { dir } = this.#options;
    await mkdir(dir, { recursive: true });
    for (const runId of await listSpooledRuns(dir)) {
      const { firstSeq, entries, segments } = await recoverLog(dir, runId);
      const log = this.open(runId, segments);
      log.restore(firstSeq, entries);
      if (!isKnown(runId)) await this.remove(runId);
    }
  }

  /** Returns the log of a run; creates it on first use. */
  open(runId: string, segments: readonly Segment[] = []): SpooledLog {
    const { dir, log, clock, connection } = this.#options;
    const known = this.#logs.get(runId);
    if (known !== undefined) return known;
    const opened = new SpooledLog({
      runId,
      clock,
      limits: this.#limits,
      budget: this.#budget,
      file: new SpoolFile({ ...this.#limits, dir, runId, log, segments }),
      isOnline: () => connection.online,
      onChange: (changed) => this.#sender.offer(changed),
    });
    this.#logs.set(runId, opened);
    return opened;
  }

  /** Records that the server has stored the run's entries up to `seq`. */
  acknowledge(runId: string, seq: number): void {
    const log = this.#logs.get(runId);
    if (log === undefined) return;
    const framesBefore = log.framesInFlight;
    log.acknowledge(seq);
    this.#sender.freed(framesBefore - log.framesInFlight);
  }

  async remove(runId: string): Promise<void> {
    const log = this.#logs.get(runId);
    if (log === undefined) return;
    this.#logs.delete(runId);
    this.#sender.withdraw(log);
    await log.remove();
  }

  /** Closes the logs. The files stay for the next start of the host. */
  async close(): Promise<void> {
    await Promise.all([...this.#logs.values()].map((log) => log.close()));
  }

  #wentOffline(): void {
    this.#sender.wentOffline();
    this.#logs.forEach((log) => log.wentOffline());
  }
}

/**
 * Sends the frames of all runs round-robin, one frame per run, so that a run that logs endlessly does not delay the
 * others. Frames in flight are limited per run and in total.
 */
class LogSender {
  readonly #connection: ServerConnection;
  readonly #limits: LogLimits;
  /** Runs with frames to send; the next run comes first. */
  readonly #turns = new Set<SpooledLog>();
  #framesInFlight = 0;
  /** Entries of one turn of the event loop share a frame. */
  readonly schedule = onceATurn(() => this.#sendAll());

  constructor(connection: ServerConnection, limits: LogLimits) {
    this.#connection = connection;
    this.#limits = limits;
  }

  /** Queues the run if it has a frame to send. */
  offer(log: SpooledLog): void {
    if (log.hasFrame) this.#turns.add(log);
    this.schedule();
  }

  withdraw(log: SpooledLog): void {
    this.#turns.delete(log);
    this.freed(log.framesInFlight);
  }

  /** Releases frames that are no longer in flight. */
  freed(frames: number): void {
    this.#framesInFlight -= frames;
    if (frames > 0) this.schedule();
  }

  wentOffline(): void {
    this.#framesInFlight = 0;
    this.#turns.clear();
  }

  #sendAll(): void {
    for (const log of this.#turns) {
      if (!this.#hasRoom()) return;
      this.#turns.delete(log);
      this.#sendOne(log);
      // The run is queued again at the end, so that the loop returns to it after the others.
      if (log.hasFrame) this.#turns.add(log);
    }
  }

  #hasRoom(): boolean {
    const { framesInTotal, socketBytes } = this.#limits;
    const hasTurn = this.#framesInFlight < framesInTotal;
    return this.#connection.online && hasTurn && this.#connection.bufferedBytes < socketBytes;
  }

  #sendOne(log: SpooledLog): void {
    const frame = log.takeFrame();
    if (frame === undefined) return;
    const header = { type: 'logs', run_id: log.runId, first_seq: frame.firstSeq } as const;
    this.#framesInFlight += 1;
    this.#connection.sendFrame(header, frame.payload, () => this.schedule());
  }
}
