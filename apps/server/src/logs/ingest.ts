import { closeCodes } from '@phalanx/protocol';
import type { Logger } from 'pino';

import type { FaultMonitor } from '../faults/fault-monitor.ts';
import type { HostLink } from '../hosts/host-link.ts';
import type { LogFrame } from '../hosts/host-listeners.ts';
import type { Limits } from '../limits/limits.ts';
import type { LogBatch, LogStream } from './log-batch.ts';
import { LogPace } from './log-pace.ts';
import type { IncomingEntries, LogStore } from './store.ts';

/** Entries of many hosts share a transaction, one in so long; the first after a silence wait for no others. */
const flushEveryMs = 4;
/** Or until so many wait: what waits for long is moved again and again by the garbage collector. */
const flushAtEntries = 5000;

interface Pending {
  link: HostLink;
  incoming: IncomingEntries;
}

interface Options {
  store: LogStore;
  limits: Limits;
  log: Logger;
  faults: FaultMonitor;
  /** Where the entries of a run belong; undefined unless the host may send them. */
  findStream: (link: HostLink, runId: string) => Promise<LogStream | undefined>;
  onStored: (batch: LogBatch) => void;
}

/** Stores what hosts send, and acknowledges it when it is stored. */
export class LogIngest {
  readonly #options: Options;
  readonly #pace: LogPace;
  #pending: Pending[] = [];
  #pendingEntries = 0;
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;
  #flushedAt = 0;
  /** They wait for the storage; how many that can be is limited by what hosts send without an acknowledgement. */
  #isStalled = false;

  constructor(options: Options) {
    this.#options = options;
    this.#pace = new LogPace(options.limits);
  }

  async take(link: HostLink, runId: string, { firstSeq, entries, sizeBytes }: LogFrame): Promise<void> {
    const stream = await this.#options.findStream(link, runId);
    if (stream === undefined) {
      // Nobody may read them, and the host need not keep them.
      link.send({ type: 'logs_stored', run_id: runId, seq: firstSeq + entries.length - 1 });
      return;
    }
    await this.#options.store.findProgress(stream.runId);
    const store = (): void => this.#add(link, { stream, firstSeq, entries });
    this.#pace.pass(link, { sizeBytes, store });
  }

  #add(link: HostLink, incoming: IncomingEntries): void {
    // Its host sends them again, with those before them, which may not be stored.
    if (!link.isOpen) return;
    this.#pending.push({ link, incoming });
    this.#pendingEntries += incoming.entries.length;
    if (this.#isStalled) return;
    if (this.#pendingEntries >= flushAtEntries) this.flush();
    else this.#flushSoon();
  }

  #flushSoon(): void {
    const waitMs = this.#flushedAt + flushEveryMs - performance.now();
    // The shortest timer takes a millisecond.
    if (waitMs <= 0) this.#immediate ??= setImmediate(() => this.flush());
    else this.#timer ??= setTimeout(() => this.flush(), waitMs);
  }

  /** What its connection brought will come again on the next one. */
  forget(link: HostLink): void {
    this.#pace.forget(link);
    this.#pending = this.#pending.filter((one) => one.link !== link);
  }

  flush(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#immediate);
    this.#timer = undefined;
    this.#immediate = undefined;
    const pending = this.#pending;
    this.#pending = [];
    this.#pendingEntries = 0;
    if (pending.length === 0) return;
    this.#flushedAt = performance.now();
    try {
      const stored = this.#options.store.append(pending.map(({ incoming }) => incoming));
      acknowledge(pending);
      for (const batch of stored) this.#options.onStored(batch);
    } catch (error) {
      this.#refuse(pending, error);
    }
  }

  async #tryLater(pending: readonly Pending[]): Promise<void> {
    this.#isStalled = true;
    this.#pending = [...pending, ...this.#pending];
    const goesOn = await this.#options.faults.whenStorable();
    this.#isStalled = false;
    if (goesOn) this.flush();
  }

  /** Nothing was acknowledged: the hosts keep their entries and send them again when they are back. */
  #refuse(pending: readonly Pending[], error: unknown): void {
    if (this.#options.faults.note(error)) return void this.#tryLater(pending);
    this.#options.log.error({ err: error }, 'log entries could not be stored; hosts will send them again');
    for (const link of new Set(pending.map((one) => one.link))) {
      link.drop(closeCodes.tryAgainLater, 'log entries could not be stored');
    }
  }
}

/** One acknowledgement a run and connection: it holds for all entries before it. */
function acknowledge(pending: readonly Pending[]): void {
  for (const [link, ofLink] of Map.groupBy(pending, (one) => one.link)) {
    const lastSeqs = new Map<string, number>();
    for (const { incoming } of ofLink) {
      lastSeqs.set(incoming.stream.runId, incoming.firstSeq + incoming.entries.length - 1);
    }
    for (const [runId, seq] of lastSeqs) link.send({ type: 'logs_stored', run_id: runId, seq });
  }
}
