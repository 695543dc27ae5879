import type { Logger } from 'pino';

import type { HostLink } from '../hosts/host-link.ts';
import type { LogBatch } from './log-batch.ts';
import type { IncomingEntries, LogStore } from './store.ts';

/** Entries of many hosts share a transaction; this is how long the first of them waits for the others. */
const flushAfterMs = 4;
/** Or until so many wait: what waits for long is moved again and again by the garbage collector. */
const flushAtEntries = 5000;
/** RFC 6455: try again later. */
const tryAgainLater = 1013;

interface Pending {
  link: HostLink;
  incoming: IncomingEntries;
}

/** Stores what hosts send, and acknowledges it when it is stored. */
export class LogIngest {
  readonly #store: LogStore;
  readonly #log: Logger;
  readonly #onStored: (batch: LogBatch) => void;
  #pending: Pending[] = [];
  #pendingEntries = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: { store: LogStore; log: Logger; onStored: (batch: LogBatch) => void }) {
    this.#store = options.store;
    this.#log = options.log;
    this.#onStored = options.onStored;
  }

  add(link: HostLink, incoming: IncomingEntries): void {
    // Its host sends them again, with those before them, which may not be stored.
    if (!link.isOpen) return;
    this.#pending.push({ link, incoming });
    this.#pendingEntries += incoming.entries.length;
    if (this.#pendingEntries >= flushAtEntries) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), flushAfterMs);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const pending = this.#pending;
    this.#pending = [];
    this.#pendingEntries = 0;
    if (pending.length === 0) return;
    try {
      const stored = this.#store.append(pending.map(({ incoming }) => incoming));
      acknowledge(pending);
      for (const batch of stored) this.#onStored(batch);
    } catch (error) {
      this.#refuse(pending, error);
    }
  }

  /** Nothing was acknowledged: the hosts keep their entries and send them again when they are back. */
  #refuse(pending: readonly Pending[], error: unknown): void {
    this.#log.error({ err: error }, 'log entries could not be stored; hosts will send them again');
    for (const link of new Set(pending.map((one) => one.link))) {
      link.drop(tryAgainLater, 'log entries could not be stored');
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
