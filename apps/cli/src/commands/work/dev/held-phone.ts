import { deviceControlRoutes, type Device } from '@phalanx/protocol';

import type { ApiClient } from '../../../api-client.ts';

const leaseMs = 120_000;
const renewMs = 40_000;

/** A phone that nobody else touches or launches on. Without its program the lease ends by itself. */
export class HeldPhone {
  readonly #api: ApiClient;
  readonly #params: { id: string };
  /** Somebody who had it in hand before has it afterwards too. */
  readonly #isOursToEnd: boolean;
  #timer: NodeJS.Timeout | undefined;

  private constructor(api: ApiClient, { device_id: id, lease }: Device) {
    this.#api = api;
    this.#params = { id };
    this.#isOursToEnd = lease === null;
  }

  /** Throws what the service says when somebody else has it. */
  static async take(api: ApiClient, device: Device): Promise<HeldPhone> {
    const held = new HeldPhone(api, device);
    await held.#renew();
    // Who has ended it in the console, or a service that is away, keeps it only until the next time.
    const renew = (): void => void held.#renew().catch(() => undefined);
    held.#timer = setInterval(renew, renewMs);
    return held;
  }

  async giveBack(): Promise<void> {
    clearInterval(this.#timer);
    if (!this.#isOursToEnd) return;
    const ending = this.#api.call(deviceControlRoutes.endLease, { params: this.#params });
    await ending.catch(() => undefined);
  }

  async #renew(): Promise<void> {
    await this.#api.call(deviceControlRoutes.lease, { params: this.#params, body: { duration_ms: leaseMs } });
  }
}
