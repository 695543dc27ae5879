import type { Stat } from '@phalanx/protocol';

import type { DayStat } from './store.ts';

/** Adds up runs. */
export class Sum {
  #runs = 0;
  #started = 0;
  #runMs = 0;
  #waitMs = 0;
  readonly #outcomes = new Map<Stat['outcomes'][number]['outcome'], number>();
  readonly #reasons = new Map<string, number>();

  add({ outcome, reason, runs, started, run_ms, wait_ms }: DayStat): void {
    this.#runs += runs;
    this.#started += started;
    this.#runMs += run_ms;
    this.#waitMs += wait_ms;
    count(this.#outcomes, outcome, runs);
    if (outcome !== 'succeeded') count(this.#reasons, reason || outcome, runs);
  }

  /** `phoneMs`: how long its phones could have worked. */
  toStat(key: string, name: string, phoneMs: number): Stat {
    const judged = this.#runs - (this.#outcomes.get('stopped') ?? 0);
    return {
      ...{ key, name, runs: this.#runs },
      outcomes: sorted(this.#outcomes).map(([outcome, runs]) => ({ outcome, runs })),
      reasons: sorted(this.#reasons).map(([reason, runs]) => ({ reason, runs })),
      success_share: judged === 0 ? null : (this.#outcomes.get('succeeded') ?? 0) / judged,
      average_run_ms: this.#started === 0 ? null : Math.round(this.#runMs / this.#started),
      average_wait_ms: this.#runs === 0 ? null : Math.max(0, Math.round(this.#waitMs / this.#runs)),
      // A phone may have several runs at once.
      busy_share: phoneMs === 0 ? null : Math.min(1, Math.max(0, this.#runMs / phoneMs)),
    };
  }
}

function count<Key>(counts: Map<Key, number>, key: Key, runs: number): void {
  counts.set(key, (counts.get(key) ?? 0) + runs);
}

const sorted = <Key>(counts: ReadonlyMap<Key, number>): [Key, number][] =>
  [...counts].toSorted(([, one], [, other]) => other - one);
