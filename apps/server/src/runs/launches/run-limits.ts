import { nameOf, type OnlineDevice } from '../../fleet/devices/online-devices.ts';
import { serialize } from '../../storage/db/transactions.ts';
import type { Transaction } from '../../storage/db/database.ts';
import { boundedList } from '../../kernel/errors/bounded-list.ts';
import type { Limits } from '../../kernel/limits/limits.ts';
import type { ActiveRunRows } from '../runs/active-run-rows.ts';

/** A run ends at any time; a caller who asks more often than that learns nothing. */
const retryAfterS = 5;

/** How many runs a user and a device may have at once. */
export class RunLimits {
  readonly #limits: Limits;
  readonly #store: Pick<ActiveRunRows, 'countOfUser' | 'listFullDevices'>;

  constructor(limits: Limits, store: Pick<ActiveRunRows, 'countOfUser' | 'listFullDevices'>) {
    this.#limits = limits;
    this.#store = store;
  }

  /**
   * Call it in the transaction that stores the runs: the launches of a user are counted one after another, at whatever
   * server. Throws the refusal of `runs` or `device_runs`.
   */
  async requireRoom(
    transaction: Transaction,
    userId: string,
    devices: readonly OnlineDevice[],
  ): Promise<void> {
    await serialize(transaction, `runs of ${userId}`);
    const used = await this.#store.countOfUser(userId, transaction);
    if (used + devices.length > this.#limits.most('runs'))
      throw this.#limits.refusal('runs', userId, { seconds: retryAfterS });
    const ids = devices.map(({ device }) => device.id);
    const full = await this.#store.listFullDevices(ids, this.#limits.most('device_runs'), transaction);
    if (full.size === 0) return;
    const names = devices.filter(({ device }) => full.has(device.id)).map(({ device }) => nameOf(device));
    throw this.#limits.refusal('device_runs', userId, {
      seconds: retryAfterS,
      devices: boundedList(names),
    });
  }

  /** Does what stores so many bytes of a launch. Throws `work_bytes_exceeded`. */
  withRoom<Result>(userId: string, bytes: number, store: () => Promise<Result>): Promise<Result> {
    return this.#limits.withRoom('work_bytes', { userId, bytes }, store);
  }
}
