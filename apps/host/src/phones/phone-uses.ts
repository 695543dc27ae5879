import type { HostTouch } from '@phalanx/protocol';

import { PhoneUse } from '../driver/phone-use.ts';
import type { HeldClipboard } from './held-clipboard.ts';

class UseOver extends Error {
  override readonly name = 'UseOver';

  constructor(why: string) {
    super(`${why} meanwhile`);
  }
}

/**
 * Uses of a phone. The begin or end of a lease or of a run ends each manual use: its waiting calls are dropped, nothing
 * is remembered across the boundary, and the clipboard is cleared.
 */
export class PhoneUses {
  readonly #clipboard: Pick<HeldClipboard, 'filledBy' | 'usedBy'>;
  #turn = new AbortController();
  #counted: Pick<HostTouch, 'device_id' | 'lease'> | undefined;
  #last: { readonly by: string; readonly use: PhoneUse } | undefined;

  constructor(clipboard: Pick<HeldClipboard, 'filledBy' | 'usedBy'>) {
    this.#clipboard = clipboard;
  }

  /** Begins a run of this user. Returns its use and a function that ends the use. */
  beginRun(by: string | undefined): { use: PhoneUse; end: () => void } {
    const run = new AbortController();
    this.#endByHand('a run of it began');
    return {
      use: this.#useOf(run.signal, by),
      end: () => {
        if (run.signal.aborted) return;
        run.abort(new UseOver('the run ended'));
        this.#endByHand('a run of it ended');
      },
    };
  }

  /**
   * Returns the manual use of the touching user. Throws when the service knows a later lease. Without a touch the user
   * is unknown, and nothing is remembered.
   */
  byHand(touch: HostTouch | undefined): PhoneUse {
    if (touch === undefined) return this.#useOf(this.#turn.signal, undefined);
    this.leaseCounted(touch);
    if (touch.lease < (this.#counted?.lease ?? 0)) throw new UseOver(leaseChanged);
    if (this.#last?.by !== touch.by)
      this.#last = { by: touch.by, use: this.#useOf(this.#turn.signal, touch.by) };
    return this.#last.use;
  }

  #useOf(over: AbortSignal, by: string | undefined): PhoneUse {
    const use = new PhoneUse(over, { by, onCopy: (one) => this.#clipboard.filledBy(one) });
    this.#clipboard.usedBy(use);
    return use;
  }

  /** Records the service's count of lease changes. A higher count, or another ID of the phone, ends the manual use. */
  leaseCounted({ device_id, lease }: Pick<HostTouch, 'device_id' | 'lease'>): void {
    const known = this.#counted;
    if (known?.device_id === device_id && lease <= known.lease) return;
    this.#counted = { device_id, lease };
    if (known !== undefined || lease > 0) this.#endByHand(leaseChanged);
  }

  /** Forgets the count after a reconnection to the service, which may have restored an older database. */
  forget(): void {
    this.#counted = undefined;
    this.#endByHand('the connection to the service broke');
  }

  #endByHand(why: string): void {
    this.#turn.abort(new UseOver(why));
    this.#turn = new AbortController();
    this.#last = undefined;
  }
}

const leaseChanged = 'another lease of it began or ended';
