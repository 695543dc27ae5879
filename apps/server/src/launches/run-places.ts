import { nameOf, type OnlineDevice } from '../devices/online-devices.ts';
import { serialize } from '../db/locks.ts';
import type { Transaction } from '../db/database.ts';
import { boundedList } from '../http/bounded-list.ts';
import type { Limits } from '../limits/limits.ts';
import type { ActiveRuns } from '../runs/active-runs.ts';
import type { PlacedRuns } from '../runs/placed-runs.ts';

/** A run ends at any time; a caller who asks more often than that learns nothing. */
const retryAfterS = 5;

/** What is kept for a launch until its runs are active, or will never be. */
export interface ClaimedPlaces {
  /** In the transaction that stores the runs. Throws when there is no room. */
  readonly check: (transaction: Transaction) => Promise<void>;
  readonly release: () => void;
}

/** How many runs a user and a phone may have at once. */
export interface RunPlaces {
  /** Throws when it is known that there is no room. */
  claim(userId: string, devices: readonly OnlineDevice[]): ClaimedPlaces;
}

const add = (counts: Map<string, number>, key: string, change: number): void => {
  const count = (counts.get(key) ?? 0) + change;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
};

class Refusals {
  readonly #limits: Limits;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  requireUser(userId: string, wanted: number): void {
    if (wanted > this.#limits.most('runs'))
      throw this.#limits.refusal('runs', userId, { seconds: retryAfterS });
  }

  requireDevices(
    userId: string,
    devices: readonly OnlineDevice[],
    isFull: (device: OnlineDevice) => boolean,
  ): void {
    const full = devices.filter(isFull);
    if (full.length === 0) return;
    const names = boundedList(full.map(({ device }) => nameOf(device)));
    throw this.#limits.refusal('device_runs', userId, { seconds: retryAfterS, devices: names });
  }
}

/** With one server: counted in memory, with those that are about to be stored. */
export class PlacesInMemory implements RunPlaces {
  readonly #limits: Limits;
  readonly #refusals: Refusals;
  readonly #activeRuns: ActiveRuns;
  readonly #claimed = new Map<string, number>();

  constructor(limits: Limits, activeRuns: ActiveRuns) {
    this.#limits = limits;
    this.#refusals = new Refusals(limits);
    this.#activeRuns = activeRuns;
  }

  claim(userId: string, devices: readonly OnlineDevice[]): ClaimedPlaces {
    const claimedBy = (key: string): number => this.#claimed.get(key) ?? 0;
    const used = this.#activeRuns.countOfUser(userId) + claimedBy(userId);
    this.#refusals.requireUser(userId, used + devices.length);
    const most = this.#limits.most('device_runs');
    this.#refusals.requireDevices(
      userId,
      devices,
      ({ device: { id } }) => this.#activeRuns.countOnDevice(id) + claimedBy(id) >= most,
    );
    const change = (by: 1 | -1): void => {
      add(this.#claimed, userId, by * devices.length);
      for (const { device } of devices) add(this.#claimed, device.id, by);
    };
    change(1);
    return { check: async () => undefined, release: () => change(-1) };
  }
}

/** With several servers: the launches of a user are counted one after another, wherever they are asked for. */
export class StoredPlaces implements RunPlaces {
  readonly #limits: Limits;
  readonly #refusals: Refusals;
  readonly #placed: PlacedRuns;

  constructor(limits: Limits, placed: PlacedRuns) {
    this.#limits = limits;
    this.#refusals = new Refusals(limits);
    this.#placed = placed;
  }

  claim(userId: string, devices: readonly OnlineDevice[]): ClaimedPlaces {
    const check = async (transaction: Transaction): Promise<void> => {
      await serialize(transaction, `runs of ${userId}`);
      const used = await this.#placed.countOfUser(userId, transaction);
      this.#refusals.requireUser(userId, used + devices.length);
      const ids = devices.map(({ device }) => device.id);
      const most = this.#limits.most('device_runs');
      const full = await this.#placed.listFullDevices(ids, most, transaction);
      this.#refusals.requireDevices(userId, devices, ({ device }) => full.has(device.id));
    };
    return { check, release: () => undefined };
  }
}
