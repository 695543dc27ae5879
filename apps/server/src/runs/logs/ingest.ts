import { closeCodes } from '@phalanx/protocol';
import type { Logger } from 'pino';
import type { FaultMonitor } from '../../kernel/faults/fault-monitor.ts';
import type { HostLink, LogFrame } from '../../fleet/hosts/host-link.ts';
import type { Limits } from '../../kernel/limits/limits.ts';
import type { IncomingEntries, LogBatch, LogStream } from './log-batch.ts';
import type { RecentLogs } from './tables/recent-logs.ts';
import { LogRateLimit } from './log-rate-limit.ts';

/**
 * Minimum time between two flushes, in ms: entries of many hosts share a transaction. The first entries after a pause
 * are flushed at once.
 */
const flushEveryMs = 4;
/**
 * Number of pending entries that triggers an immediate flush: the garbage collector moves long-lived entries again and
 * again.
 */
const flushAtEntries = 5000;
/** Maximum number of frames per flush, which also bounds the first flush after a storage outage. */
const maxFrames = 10_000;

interface Pending {
  link: HostLink;
  incoming: IncomingEntries;
}

interface Options {
  store: RecentLogs;
  limits: Limits;
  log: Logger;
  faults: FaultMonitor;
  /** Finds the stream that a run's entries belong to; undefined unless the host may send them. */
  findStream: (link: HostLink, runId: string) => Promise<LogStream | undefined>;
  onStored: (batch: LogBatch) => void;
}

/** Stores log entries that hosts send, and acknowledges them once they are stored. */
export class LogIngest {
  readonly #options: Options;
  readonly #pace: LogRateLimit;
  #pending: Pending[] = [];
  #pendingEntries = 0;
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;
  #flushedAt = 0;
  /**
   * Flush in flight. Other entries wait meanwhile, because entries are stored in the order of their IDs and the storage
   * may be failing. The limit of unacknowledged entries per host bounds the backlog.
   */
  #storing: Promise<void> | undefined;

  constructor(options: Options) {
    this.#options = options;
    this.#pace = new LogRateLimit(options.limits);
  }

  async take(link: HostLink, runId: string, { firstSeq, entries, sizeBytes }: LogFrame): Promise<void> {
    const stream = await this.#options.findStream(link, runId);
    if (stream === undefined) {
      // Acknowledged unstored: no user may read these entries, so the host need not keep them.
      link.send({ type: 'logs_stored', run_id: runId, seq: firstSeq + entries.length - 1 });
      return;
    }
    const store = (): void => this.#add(link, { stream, firstSeq, entries, epoch: link.epoch });
    this.#pace.pass(link, { sizeBytes, store });
  }

  #add(link: HostLink, incoming: IncomingEntries): void {
    // The host will resend these entries together with earlier ones, which may not be stored.
    if (!link.isOpen) return;
    this.#pending.push({ link, incoming });
    this.#pendingEntries += incoming.entries.length;
    this.#goOn();
  }

  #goOn(): void {
    if (this.#storing !== undefined || this.#pending.length === 0) return;
    if (this.#pendingEntries >= flushAtEntries) this.#flush();
    else this.#flushSoon();
  }

  #flushSoon(): void {
    const waitMs = this.#flushedAt + flushEveryMs - performance.now();
    // Timers take at least 1 ms.
    if (waitMs <= 0) this.#immediate ??= setImmediate(() => this.#flush());
    else this.#timer ??= setTimeout(() => this.#flush(), waitMs);
  }

  /** Drops the pending entries of a connection. The host resends them on its next connection. */
  forget(link: HostLink): void {
    this.#pace.forget(link);
    this.#pending = this.#pending.filter((one) => one.link !== link);
  }

  /** Flushes the pending entries. Resolves when they are stored. */
  async close(): Promise<void> {
    await this.#storing;
    this.#flush();
    await this.#storing;
  }

  #flush(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#immediate);
    this.#timer = undefined;
    this.#immediate = undefined;
    const pending = this.#takePending();
    if (pending.length === 0) return;
    this.#flushedAt = performance.now();
    this.#storing = this.#store(pending).finally(() => {
      this.#storing = undefined;
      this.#goOn();
    });
  }

  /** Takes the pending entries. Skips closed connections, because earlier entries of theirs may not be stored. */
  #takePending(): Pending[] {
    this.#pending = this.#pending.filter(({ link }) => link.isOpen);
    const pending = this.#pending.splice(0, maxFrames);
    const entries = pending.reduce((sum, { incoming }) => sum + incoming.entries.length, 0);
    this.#pendingEntries = this.#pending.length === 0 ? 0 : this.#pendingEntries - entries;
    return pending;
  }

  async #store(pending: readonly Pending[]): Promise<void> {
    let isFirst = true;
    try {
      await this.#options.faults.untilDone(() => {
        // Hosts whose connections have closed meanwhile resend their entries.
        const due = isFirst ? pending : pending.filter(({ link }) => link.isOpen);
        isFirst = false;
        return this.#append(due);
      });
    } catch (error) {
      this.#refuse(pending, error);
    }
  }

  async #append(pending: readonly Pending[]): Promise<void> {
    const { batches, replaced } = await this.#options.store.append(pending.map(({ incoming }) => incoming));
    acknowledge(replaced.size === 0 ? pending : dropReplaced(pending, replaced));
    for (const batch of batches) this.#options.onStored(batch);
  }

  /**
   * Drops the connections whose entries could not be stored. Nothing was acknowledged, so the hosts keep their entries
   * and resend them when they reconnect.
   */
  #refuse(pending: readonly Pending[], error: unknown): void {
    this.#options.log.error({ err: error }, 'log entries could not be stored; hosts will send them again');
    for (const link of new Set(pending.map((one) => one.link))) {
      link.drop(closeCodes.tryAgainLater, 'log entries could not be stored');
    }
  }
}

/** Drops the replaced connections, and returns the entries of the others. */
function dropReplaced(pending: readonly Pending[], replaced: ReadonlySet<number>): Pending[] {
  for (const { link } of pending)
    if (replaced.has(link.epoch)) link.drop(closeCodes.replaced, 'the host has connected again');
  return pending.filter(({ link }) => !replaced.has(link.epoch));
}

/** Sends one acknowledgement per run and connection, which also covers all earlier entries. */
function acknowledge(pending: readonly Pending[]): void {
  for (const [link, ofLink] of Map.groupBy(pending, (one) => one.link)) {
    const lastSeqs = new Map<string, number>();
    for (const { incoming } of ofLink) {
      lastSeqs.set(incoming.stream.runId, incoming.firstSeq + incoming.entries.length - 1);
    }
    for (const [runId, seq] of lastSeqs) link.send({ type: 'logs_stored', run_id: runId, seq });
  }
}
