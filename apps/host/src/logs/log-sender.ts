import type { ServerConnection } from '../connection/server-connection.ts';
import type { LogLimits } from './log-limits.ts';
import type { SpooledLog } from './spooled-log.ts';

/**
 * Sends the frames of all runs in turn, one frame a run, so that a run that logs without end does not hold up the
 * others. What is under way is limited for each run and in total.
 */
export class LogSender {
  readonly #connection: ServerConnection;
  readonly #limits: LogLimits;
  /** Runs with something to send, the next one first. */
  readonly #turns = new Set<SpooledLog>();
  #framesInFlight = 0;
  #isScheduled = false;

  constructor(connection: ServerConnection, limits: LogLimits) {
    this.#connection = connection;
    this.#limits = limits;
  }

  /** The run may have something to send. */
  offer(log: SpooledLog): void {
    if (log.hasFrame) this.#turns.add(log);
    this.schedule();
  }

  withdraw(log: SpooledLog): void {
    this.#turns.delete(log);
    this.freed(log.framesInFlight);
  }

  /** So many frames are no longer under way. */
  freed(frames: number): void {
    this.#framesInFlight -= frames;
    if (frames > 0) this.schedule();
  }

  wentOffline(): void {
    this.#framesInFlight = 0;
    this.#turns.clear();
  }

  schedule(): void {
    if (this.#isScheduled || this.#turns.size === 0) return;
    this.#isScheduled = true;
    // At the end of this turn of the event loop, so that the entries of one turn share a frame.
    setImmediate(() => {
      this.#isScheduled = false;
      this.#sendAll();
    });
  }

  #sendAll(): void {
    for (const log of this.#turns) {
      if (!this.#hasRoom()) return;
      this.#turns.delete(log);
      this.#sendOne(log);
      // Added again at the end, the loop comes back to it after the others.
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
