import { type HostTimings, hostTimings } from '../time/host-timings.ts';
import { UndoneCallError } from './driver-error.ts';

/** The helper is started anew because its connection to Android's accessibility has worn out. It counts as no failure of the helper. */
export class HelperRenewal extends UndoneCallError {}

/** Findings about a phone's accessibility, kept beyond the life of one helper. */
export class Renewals {
  readonly timings: HostTimings;
  #last: { readonly at: number; readonly why: string } | undefined;
  #slowUntil = -Infinity;

  constructor(timings: HostTimings = hostTimings) {
    this.timings = timings;
  }

  /** Undefined when the last one is too recent. `why`: a sentence. */
  begin(why: string): HelperRenewal | undefined {
    if (this.remark !== undefined) return undefined;
    this.#last = { at: performance.now(), why };
    return new HelperRenewal('ui_helper_failed', `${why} The UI helper connects anew.`);
  }

  /** Reason why the helper was renewed, for as long as it may not be renewed again. */
  get remark(): string | undefined {
    if (this.#last === undefined || performance.now() - this.#last.at > this.timings.renewalMs)
      return undefined;
    return `${this.#last.why} The UI helper was connected anew.`;
  }

  get treeMs(): number {
    const { treeMs, slowTreeMs } = this.timings;
    return performance.now() < this.#slowUntil ? slowTreeMs : treeMs;
  }

  /** A tree came after its limit. */
  noteSlowTree(): void {
    this.#slowUntil = performance.now() + this.timings.renewalMs;
  }
}
