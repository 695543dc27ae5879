import { nameOf, type OnlineDevice } from '../../fleet/devices/online-devices.ts';
import { lockQuota } from '../../storage/db/quota.ts';
import type { Transaction } from '../../storage/db/database.ts';
import { boundedList } from '../../kernel/errors/bounded-list.ts';
import type { Limits } from '../../kernel/limits/limits.ts';

/** `Retry-After` in seconds. Runs end at unpredictable times, so a shorter retry interval gains nothing. */
const retryAfterS = 5;

/**
 * Locks the user's run quota until the transaction ends, across servers: launches of a user are stored one at a time.
 */
export const lockRunsOf = (transaction: Transaction, userId: string): Promise<void> =>
  lockQuota(transaction, { kind: 'runs', owner: userId });

interface RunCounts {
  countOfUser(userId: string, within: Transaction): Promise<number>;
  /** Returns the devices that have at least `maxRuns` active runs. */
  listFullDevices(
    deviceIds: readonly string[],
    maxRuns: number,
    within: Transaction,
  ): Promise<ReadonlySet<string>>;
}

/** Limits of concurrent runs, per user and per device. */
export class RunLimits {
  readonly #limits: Limits;
  readonly #store: RunCounts;

  constructor(limits: Limits, store: RunCounts) {
    this.#limits = limits;
    this.#store = store;
  }

  /**
   * Throws the refusal of `runs` or `device_runs` when the runs exceed a limit. Call it in the transaction that stores
   * the runs, under the lock of `lockRunsOf`, so that concurrent launches of a user are counted one after another.
   */
  async requireRoom(
    transaction: Transaction,
    userId: string,
    devices: readonly OnlineDevice[],
  ): Promise<void> {
    const used = await this.#store.countOfUser(userId, transaction);
    if (used + devices.length > this.#limits.limitOf('runs'))
      throw this.#limits.refusal('runs', userId, { seconds: retryAfterS });
    const ids = devices.map(({ device }) => device.id);
    const full = await this.#store.listFullDevices(ids, this.#limits.limitOf('device_runs'), transaction);
    if (full.size === 0) return;
    const names = devices.filter(({ device }) => full.has(device.id)).map(({ device }) => nameOf(device));
    throw this.#limits.refusal('device_runs', userId, {
      seconds: retryAfterS,
      devices: boundedList(names),
    });
  }

  /** Calls `store`, which stores `bytes` of a launch, when the user's quota has room. Throws `work_bytes_exceeded`. */
  withRoom<Result>(userId: string, bytes: number, store: () => Promise<Result>): Promise<Result> {
    return this.#limits.withRoom('work_bytes', { userId, bytes }, store);
  }
}
