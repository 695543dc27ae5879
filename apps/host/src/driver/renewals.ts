import { type HostTimings, hostTimings } from '../time/host-timings.ts';
import { UndoneCallError } from './driver-error.ts';

/**
 * Restart of the helper because its connection to Android's accessibility has worn out. Does not count as a failure of
 * the helper.
 */
export class HelperRenewal extends UndoneCallError {}

/** Findings about a phone's accessibility that outlive a helper. */
export class Renewals {
  readonly timings: HostTimings;
  #last: { readonly at: number; readonly why: string } | undefined;
  #slowUntil = -Infinity;

  constructor(timings: HostTimings = hostTimings) {
    this.timings = timings;
  }

  /** Begins a renewal; undefined when the last one is too recent. `why` is a sentence. */
  begin(why: string): HelperRenewal | undefined {
    if (this.remark !== undefined) return undefined;
    this.#last = { at: performance.now(), why };
    return new HelperRenewal('ui_helper_failed', `${why} The UI helper connects anew.`);
  }

  /** Reason for the last renewal, for as long as the next one has to wait. */
  get remark(): string | undefined {
    if (this.#last === undefined || performance.now() - this.#last.at > this.timings.renewalMs)
      return undefined;
    return `${this.#last.why} The UI helper was connected anew.`;
  }

  get treeMs(): number {
    const { treeMs, slowTreeMs } = this.timings;
    return performance.now() < this.#slowUntil ? slowTreeMs : treeMs;
  }

  /** Notes that a tree arrived after its time limit. */
  noteSlowTree(): void {
    this.#slowUntil = performance.now() + this.timings.renewalMs;
  }
}
