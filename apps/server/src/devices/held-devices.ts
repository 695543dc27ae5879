import type { ReportedDeviceState } from '@phalanx/protocol';

import type { HostLink } from '../hosts/host-link.ts';
import type { StoredDevice } from './store.ts';

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
  readonly #byLink = new Map<HostLink, Set<HeldDevice>>();

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

  /** In place of what another host had of it. */
  hold(device: HeldDevice): void {
    const { stored, link } = device;
    const before = this.#byId.get(stored.id);
    if (before !== undefined) this.release(before);
    this.#byId.set(stored.id, device);
    this.#bySerial.set(keyOf(stored.owner_id, stored.serial), device);
    this.#byLink.set(link, (this.#byLink.get(link) ?? new Set()).add(device));
  }

  release(device: HeldDevice): void {
    const { stored, link } = device;
    this.#byId.delete(stored.id);
    this.#bySerial.delete(keyOf(stored.owner_id, stored.serial));
    const ofLink = this.#byLink.get(link);
    ofLink?.delete(device);
    if (ofLink?.size === 0) this.#byLink.delete(link);
  }

  /** Returns those that the host had. */
  releaseAll(link: HostLink): HeldDevice[] {
    const devices = [...(this.#byLink.get(link) ?? [])];
    for (const device of devices) this.release(device);
    return devices;
  }
}
