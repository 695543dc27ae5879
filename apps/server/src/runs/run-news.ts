import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

import type { Bus } from '../bus/bus.ts';
import type { FaultMonitor } from '../faults/fault-monitor.ts';
import { periodically } from '../periodically.ts';
import type { ActiveRuns } from './active-runs.ts';
import type { PlacedRuns } from './placed-runs.ts';
import type { StoredRun } from './stored-run.ts';

const RunIds = Compile(Type.Array(Type.String()));
const subject = 'runs';
/** As long as a message that was missed delays a caller. */
const lookEveryMs = 1000;

interface Options {
  bus: Bus;
  placed: Pick<PlacedRuns, 'listByIds'>;
  activeRuns: ActiveRuns;
  faults: FaultMonitor;
}

/** Tells the callers who wait at this server what has become of runs whose hosts are at another one. */
export class RunNews {
  readonly #options: Options;
  readonly #ends: (() => unknown)[];

  constructor(options: Options) {
    this.#options = options;
    const { bus, faults, activeRuns } = options;
    const look = (): Promise<void> => this.#read(activeRuns.awaited());
    this.#ends = [
      bus.subscribe(subject, (text) => {
        const ids: unknown = JSON.parse(text);
        if (RunIds.Check(ids))
          void this.#read(ids.filter((id) => activeRuns.isAwaited(id))).catch((error: unknown) =>
            faults.report(error, 'what has become of runs could not be read'),
          );
      }),
      periodically(faults, lookEveryMs, look),
    ];
  }

  /** To the other servers. */
  tell(rows: readonly StoredRun[]): void {
    this.#options.bus.publish(subject, JSON.stringify(rows.map(({ id }) => id)));
  }

  async close(): Promise<void> {
    for (const end of this.#ends) await end();
  }

  async #read(runIds: readonly string[]): Promise<void> {
    if (runIds.length === 0) return;
    const { placed, activeRuns } = this.#options;
    for (const row of await placed.listByIds(runIds)) activeRuns.notify(row);
  }
}
