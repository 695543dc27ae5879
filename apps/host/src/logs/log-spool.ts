import type { Logger } from 'pino';

import type { ServerConnection } from '../connection/server-connection.ts';
import type { ServiceClock } from '../connection/service-clock.ts';
import { defaultLogLimits, type LogBudget, type LogLimits } from './log-limits.ts';
import { LogTable } from './log-table.ts';
import { LogWriter } from './log-writer.ts';
import { SpooledLog } from './spooled-log.ts';
import type { HostStore } from '../store/host-store.ts';
import { onceATurn } from '../time/once-a-turn.ts';

interface LogSpoolOptions {
  store: HostStore;
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
  readonly #table: LogTable;
  readonly #writer: LogWriter;

  constructor(options: LogSpoolOptions) {
    this.#options = options;
    this.#limits = { ...defaultLogLimits, ...options.limits };
    this.#sender = new LogSender(options.connection, this.#limits);
    this.#table = new LogTable(options.store.thread);
    this.#writer = new LogWriter({ table: this.#table, limits: this.#limits, log: options.log });
    options.connection.onOnline(() => this.#logs.forEach((log) => log.wentOnline()));
    options.connection.onOffline(() => this.#wentOffline());
  }

  /** Recovers logs that an earlier process of the host left behind, for the runs that `isKnown`; deletes all others. */
  async recover(isKnown: (runId: string) => boolean): Promise<void> {
    for (const runId of await this.#table.runIds()) {
      if (!isKnown(runId)) {
        await this.#table.remove(runId);
        continue;
      }
      const { firstSeq, entries } = await this.#table.read(runId);
      this.open(runId).restore(firstSeq, entries);
    }
  }

  /** Returns the log of a run; creates it on first use. */
  open(runId: string): SpooledLog {
    const { clock, connection } = this.#options;
    const known = this.#logs.get(runId);
    if (known !== undefined) return known;
    const opened = new SpooledLog({
      runId,
      clock,
      limits: this.#limits,
      budget: this.#budget,
      isOnline: () => connection.online,
      onChange: (changed) => {
        this.#sender.offer(changed);
        this.#writer.offer(changed);
      },
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
    this.#writer.withdraw(log);
    log.forget();
    await this.#table.remove(runId);
  }

  /** Closes the logs. Their entries stay on disk for the next start of the host. */
  async close(): Promise<void> {
    for (const log of this.#logs.values()) log.close();
    await this.#writer.close();
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
