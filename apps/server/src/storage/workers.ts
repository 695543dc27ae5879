import type { FastifyInstance } from 'fastify';
import type { Bus } from './bus/bus.ts';
import { onCommit } from './db/commit-announcements.ts';
import type { WorkKind } from './db/tables/column-types.ts';
import { listNextDue } from './db/work-queue.ts';
import { Worker, type WorkerContext, type WorkerOptions } from './worker.ts';
import { periodically } from '../kernel/periodically.ts';

interface Context extends WorkerContext {
  readonly app: FastifyInstance;
  readonly cluster: { readonly bus: Bus };
}

/** Interval of the look that finds work of other servers, and work that is due later. */
const lookEveryMs = 1000;
/** Subject whose messages are the kinds of work that a server has no place for. */
const subject = 'work';

/** Workers of this server, one for each kind of durable work. They end with `app`. */
export class Workers {
  readonly #context: Context;
  readonly #workers = new Map<WorkKind, Worker>();

  constructor(context: Context) {
    this.#context = context;
    const { app, cluster, database, faults } = context;
    const ends: (() => unknown)[] = [
      onCommit(database, (announced) => this.#lookFor(announced)),
      cluster.bus.subscribe(subject, (asked) => {
        for (const [kind, worker] of this.#workers) if (kind === asked) void worker.look();
      }),
      periodically(faults, lookEveryMs, () => this.#lookAtAll()),
    ];
    app.addHook('onClose', async () => {
      for (const end of ends) await end();
    });
  }

  /** Adds the worker for a kind. It claims work once the server is ready. */
  add(options: WorkerOptions): Worker {
    const { app } = this.#context;
    const worker = new Worker(this.#context, options);
    this.#workers.set(options.kind, worker);
    app.addHook('onReady', async () => void worker.look());
    app.addHook('onClose', () => worker.close());
    return worker;
  }

  /** Begins what a transaction of this process has enqueued, or asks the other servers when there is no place for it. */
  #lookFor(announced: ReadonlySet<string>): void {
    for (const [kind, worker] of this.#workers) {
      if (!announced.has(kind)) continue;
      void worker.look();
      if (worker.isFull) this.#context.cluster.bus.publish(subject, kind);
    }
  }

  /** Begins what is due, and at its time what is due before the next look. One query for all kinds: most are idle. */
  async #lookAtAll(): Promise<void> {
    const { database, clock } = this.#context;
    const now = clock.now();
    for (const { kind, dueAt } of await listNextDue(database, [...this.#workers.keys()], now)) {
      const worker = this.#workers.get(kind);
      if (dueAt <= now) void worker?.look();
      // One more: timers count from the last turn of the event loop.
      else if (dueAt < now + lookEveryMs) setTimeout(() => void worker?.look(), dueAt - now + 1).unref();
    }
  }
}
