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
 * Uses of a phone. A lease that begins or ends, and a run that does, ends each use by hand: nothing that waits is done
 * after it, nothing is remembered over it, and nothing stays on the clipboard.
 */
export class PhoneUses {
  readonly #clipboard: Pick<HeldClipboard, 'filledBy' | 'usedBy'>;
  #turn = new AbortController();
  #counted: Pick<HostTouch, 'device_id' | 'lease'> | undefined;
  #last: { readonly by: string; readonly use: PhoneUse } | undefined;

  constructor(clipboard: Pick<HeldClipboard, 'filledBy' | 'usedBy'>) {
    this.#clipboard = clipboard;
  }

  /** A run of this user begins. Returns its use, and how to end that. */
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

  /** Throws when the service knows of a later lease. Without a touch nobody knows who it is, and nothing is remembered. */
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

  /** The service has told how many leases have begun or ended: more than are known is news, and so is another ID of the phone. */
  leaseCounted({ device_id, lease }: Pick<HostTouch, 'device_id' | 'lease'>): void {
    const known = this.#counted;
    if (known?.device_id === device_id && lease <= known.lease) return;
    this.#counted = { device_id, lease };
    if (known !== undefined || lease > 0) this.#endByHand(leaseChanged);
  }

  /** The service is connected anew, and may have an older count: its database was restored. */
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
