import { nameOf, type OnlineDevice } from '../devices/online-devices.ts';
import { boundedList } from '../http/bounded-list.ts';
import type { Limits } from '../limits/limits.ts';
import type { ActiveRuns } from '../runs/active-runs.ts';

/** A run ends at any time; a caller who asks more often than that learns nothing. */
const retryAfterS = 5;

const add = (counts: Map<string, number>, key: string, change: number): void => {
  const count = (counts.get(key) ?? 0) + change;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
};

/** How many runs a user and a phone may have at once, with those that are about to be stored. */
export class RunPlaces {
  readonly #limits: Limits;
  readonly #activeRuns: ActiveRuns;
  readonly #claimed = new Map<string, number>();

  constructor(limits: Limits, activeRuns: ActiveRuns) {
    this.#limits = limits;
    this.#activeRuns = activeRuns;
    limits.show('runs', (userId) => activeRuns.countOfUser(userId));
  }

  /** Throws when there is no room. Call the result when the runs are active, or will never be. */
  claim(userId: string, devices: readonly OnlineDevice[]): () => void {
    this.#requireUser(userId, devices.length);
    this.#requireDevices(userId, devices);
    const change = (by: 1 | -1): void => {
      add(this.#claimed, userId, by * devices.length);
      for (const { device } of devices) add(this.#claimed, device.id, by);
    };
    change(1);
    return () => change(-1);
  }

  #requireUser(userId: string, more: number): void {
    const used = this.#activeRuns.countOfUser(userId) + (this.#claimed.get(userId) ?? 0);
    if (used + more > this.#limits.most('runs'))
      throw this.#limits.refusal('runs', userId, { seconds: retryAfterS });
  }

  #requireDevices(userId: string, devices: readonly OnlineDevice[]): void {
    const most = this.#limits.most('device_runs');
    const full = devices.filter(
      ({ device: { id } }) => this.#activeRuns.countOnDevice(id) + (this.#claimed.get(id) ?? 0) >= most,
    );
    if (full.length === 0) return;
    const names = boundedList(full.map(({ device }) => nameOf(device)));
    throw this.#limits.refusal('device_runs', userId, { seconds: retryAfterS, devices: names });
  }
}
