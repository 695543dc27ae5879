import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { periodically } from '../../kernel/periodically.ts';
import type { ActiveRunStore } from './active-run-store.ts';
import type { ActiveRuns } from './active-runs.ts';
import type { StoredRun } from './stored-run.ts';
import { type Bus, subscribeTo } from '../../storage/bus/bus.ts';
import type { FaultMonitor } from '../../kernel/faults/fault-monitor.ts';
import { Batcher } from '../../kernel/batcher.ts';

const RunIds = Compile(Type.Array(Type.String()));
const subject = 'runs';
/** Polling interval, in ms: the maximum delay for callers whose notification was missed. */
const lookEveryMs = 1000;

interface Options {
  bus: Bus;
  store: Pick<ActiveRunStore, 'listByIds'>;
  activeRuns: ActiveRuns;
  faults: FaultMonitor;
}

/** Notifies callers who wait at this server about changes of runs whose hosts are connected to other servers. */
export class RunNotifier {
  readonly #options: Options;
  readonly #ends: (() => unknown)[];

  constructor(options: Options) {
    this.#options = options;
    const { bus, faults, activeRuns } = options;
    const changes = new Batcher<string>({
      work: (runIds) => this.#read(runIds),
      faults,
      failureMessage: 'the changes of runs could not be read',
    });
    this.#ends = [
      subscribeTo(bus, subject, RunIds, (ids) => changes.add(ids.filter((id) => activeRuns.isAwaited(id)))),
      periodically(faults, lookEveryMs, () => changes.add(activeRuns.awaited())),
      () => changes.end(),
    ];
  }

  /** Notifies the other servers about changed runs. */
  notify(rows: readonly StoredRun[]): void {
    this.#options.bus.publish(subject, JSON.stringify(rows.map(({ id }) => id)));
  }

  async close(): Promise<void> {
    for (const end of this.#ends) await end();
  }

  async #read(runIds: readonly string[]): Promise<void> {
    const { store, activeRuns } = this.#options;
    for (const row of await store.listByIds(runIds)) activeRuns.notify(row);
  }
}
