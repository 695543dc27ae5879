import { UndoneCallError } from './driver-error.ts';

/** How long the driver bears with a phone, in milliseconds. */
export interface Timeouts {
  /** For a tree. */
  readonly treeMs: number;
  /** For a tree of a phone that lately took longer than `treeMs`. */
  readonly slowTreeMs: number;
  /** For an input, besides the time that it takes by itself. */
  readonly inputMs: number;
  /** For the nodes of a web page. */
  readonly webPageMs: number;
  /** Between two renewals. */
  readonly renewalMs: number;
}

export const usualTimeouts: Timeouts = {
  treeMs: 4000,
  // The helper itself gives up after ten seconds.
  slowTreeMs: 12_000,
  inputMs: 4000,
  webPageMs: 2000,
  renewalMs: 60_000,
};

/** The helper is started anew because its connection to Android's accessibility has worn out. It counts as no failure of the helper. */
export class HelperRenewal extends UndoneCallError {}

/** What is learned of a phone's accessibility, beyond the life of one helper. */
export class Renewals {
  readonly timeouts: Timeouts;
  #last: { readonly at: number; readonly why: string } | undefined;
  #slowUntil = -Infinity;

  constructor(timeouts: Timeouts = usualTimeouts) {
    this.timeouts = timeouts;
  }

  /** Undefined when the last one is too recent. `why`: a sentence. */
  begin(why: string): HelperRenewal | undefined {
    if (this.remark !== undefined) return undefined;
    this.#last = { at: performance.now(), why };
    return new HelperRenewal('ui_helper_failed', `${why} The UI helper connects anew.`);
  }

  /** Why the helper was renewed, for as long as it may not be renewed again. */
  get remark(): string | undefined {
    if (this.#last === undefined || performance.now() - this.#last.at > this.timeouts.renewalMs)
      return undefined;
    return `${this.#last.why} The UI helper was connected anew.`;
  }

  get treeMs(): number {
    const { treeMs, slowTreeMs } = this.timeouts;
    return performance.now() < this.#slowUntil ? slowTreeMs : treeMs;
  }

  /** A tree came after its limit. */
  noteSlowTree(): void {
    this.#slowUntil = performance.now() + this.timeouts.renewalMs;
  }
}
