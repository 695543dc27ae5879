import type { ReportedDeviceState } from '@phalanx/protocol';

import type { HostLink } from '../../hosts/host-link.ts';
import type { StoredDevice } from '../store.ts';

export interface Availability {
  state: ReportedDeviceState;
  reason: string;
  /** Epoch ms. */
  since: number;
}

/** A device that a host has which is connected to this server. */
export interface HeldDevice {
  /** As it is in the database. */
  stored: StoredDevice;
  /** What the host last said of it. */
  said: Availability;
  readonly link: HostLink;
  /** When the host last confirmed it as ready, epoch ms. */
  confirmedAt: number | null;
}

const keyOf = (ownerId: string, serial: string): string => `${ownerId} ${serial}`;

/** The devices of the hosts that are connected to this server, by all that they are looked up by. */
export class HeldDevices {
  readonly #byId = new Map<string, HeldDevice>();
  readonly #bySerial = new Map<string, HeldDevice>();
  readonly #byEpoch = new Map<number, Set<HeldDevice>>();

  all(): HeldDevice[] {
    return [...this.#byId.values()];
  }

  find(id: string): HeldDevice | undefined {
    return this.#byId.get(id);
  }

  /** The one of this serial that the host has. */
  findOf(link: HostLink, serial: string): HeldDevice | undefined {
    const device = this.#bySerial.get(keyOf(link.userId, serial));
    return device?.link === link ? device : undefined;
  }

  /** Those of the host with this connection. */
  ofEpoch(epoch: number): HeldDevice[] {
    return [...(this.#byEpoch.get(epoch) ?? [])];
  }

  /** In place of what another host had of it. */
  hold(device: HeldDevice): void {
    const { stored, link } = device;
    const before = this.#byId.get(stored.id);
    if (before !== undefined) this.release(before);
    this.#byId.set(stored.id, device);
    this.#bySerial.set(keyOf(stored.owner_id, stored.serial), device);
    this.#byEpoch.set(link.epoch, (this.#byEpoch.get(link.epoch) ?? new Set()).add(device));
  }

  release(device: HeldDevice): void {
    const { stored, link } = device;
    this.#byId.delete(stored.id);
    this.#bySerial.delete(keyOf(stored.owner_id, stored.serial));
    const ofEpoch = this.#byEpoch.get(link.epoch);
    ofEpoch?.delete(device);
    if (ofEpoch?.size === 0) this.#byEpoch.delete(link.epoch);
  }

  /** Returns those that the host had. */
  releaseAll(link: HostLink): HeldDevice[] {
    const devices = this.ofEpoch(link.epoch);
    for (const device of devices) this.release(device);
    return devices;
  }
}
