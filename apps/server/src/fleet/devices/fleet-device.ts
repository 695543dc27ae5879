import type { PhoneWarning, ReportedDeviceState } from '@phalanx/protocol';

import type { DevicePlacement } from './device-placement-store.ts';
import type { StoredDevice } from './stored-device.ts';
import type { HostLink } from '../hosts/host-link.ts';

/** Device in its current state. */
export interface FleetDevice extends Availability {
  readonly id: string;
  readonly ownerId: string;
  readonly serial: string;
  readonly stored: StoredDevice;
  /** Time when its host last confirmed it as ready, epoch ms. */
  readonly confirmedAt: number | null;
  /** Epoch of the connection of the host that has the device; null when no host has it. */
  readonly epoch: number | null;
  /** Whether its host is connected, even if that host does not see the device. */
  readonly isHostConnected: boolean;
  /** Whether its host disconnected or connected so recently that the phone may return shortly. */
  readonly isReturning: boolean;
  /** Whether its host accepts secrets and masks them. */
  readonly knowsSecrets: boolean;
  /** Whether its host restricts callers and runs to the apps of their token. */
  readonly knowsAppLimits: boolean;
}

/** Returns the warnings that the host of a device last reported. */
export const warningsOf = ({ warnings }: StoredDevice): PhoneWarning[] =>
  // The JSON was written by `Fleet`.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  warnings === '[]' ? [] : (JSON.parse(warnings) as PhoneWarning[]);

/** Maximum time in ms that a host takes to reconnect to another server. */
const returnMs = 3000;

export const identityOf = (
  stored: StoredDevice,
): Pick<FleetDevice, 'id' | 'ownerId' | 'serial' | 'stored'> => ({
  id: stored.id,
  ownerId: stored.owner_id,
  serial: stored.serial,
  stored,
});

/** Returns the state of a device that no host of this server has. `here`: ID of this server. */
export function deviceElsewhere(row: DevicePlacement, here: string, nowMs: number): FleetDevice {
  const isConnected = row.is_connected === 1;
  const isSeen = row.epoch !== null && row.epoch === row.session_epoch;
  if (isConnected && isSeen && row.node_id !== here) return ofOtherServer(row);
  // This server has just lost the device, and the loss is not stored yet.
  const connectedAt = isSeen ? nowMs : row.opened_at;
  const changedAt = row.ended_at ?? (isConnected ? connectedAt : row.lease_until);
  const isReturning = changedAt !== null && nowMs - changedAt < returnMs;
  const offline = {
    state: 'offline' as const,
    confirmedAt: null,
    epoch: null,
    isHostConnected: isConnected,
    isReturning,
    knowsSecrets: false,
    knowsAppLimits: false,
  };
  if (isConnected && !isSeen)
    return { ...identityOf(row), ...offline, reason: unseen(row), since: row.opened_at ?? nowMs };
  const since = isConnected ? nowMs : (row.ended_at ?? row.lease_until ?? row.last_seen_at);
  return { ...identityOf(row), ...offline, reason: withoutHost(row), since };
}

/**
 * Returns the state of a device at another server. The stored state is current, because that server stores a new one as
 * soon as the host stops confirming the phone.
 */
const ofOtherServer = (row: DevicePlacement): FleetDevice => ({
  ...identityOf(row),
  state: row.state,
  reason: row.reason,
  since: row.since,
  epoch: row.epoch,
  confirmedAt: row.state === 'ready' ? row.renewed_at : null,
  isHostConnected: true,
  isReturning: false,
  knowsSecrets: row.knows_secrets === 1,
  knowsAppLimits: row.knows_app_limits === 1,
});

const withoutHost = ({ host_name: name }: StoredDevice): string =>
  `Its host ${name} is not connected: start it, or check its network`;

const unseen = ({ host_name: name }: StoredDevice): string =>
  `Its host ${name} does not see it: check its cable or its network`;

export interface Availability {
  state: ReportedDeviceState;
  reason: string;
  /** Epoch ms. */
  since: number;
}

/** Device of a host that is connected to this server. */
export interface HeldDevice {
  /** Row of the device, as stored in the database. */
  stored: StoredDevice;
  /** State that the host last reported. */
  reported: Availability;
  readonly link: HostLink;
  /** Time when the host last confirmed it as ready, epoch ms. */
  confirmedAt: number | null;
}

const keyOf = (epoch: number, serial: string): string => `${epoch} ${serial}`;

/**
 * Index of the devices of the hosts that are connected to this server, by ID, by connection and serial, and by
 * connection.
 */
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

  /** Finds the device with this serial among those of the host. */
  findOf(link: HostLink, serial: string): HeldDevice | undefined {
    const device = this.#bySerial.get(keyOf(link.epoch, serial));
    return device?.link === link ? device : undefined;
  }

  /** Returns the devices of the host with this connection. */
  ofEpoch(epoch: number): HeldDevice[] {
    return [...(this.#byEpoch.get(epoch) ?? [])];
  }

  /** Adds a device and replaces the entry of another host for it. */
  hold(device: HeldDevice): void {
    const { stored, link } = device;
    const before = this.#byId.get(stored.id);
    if (before !== undefined) this.release(before);
    this.#byId.set(stored.id, device);
    this.#bySerial.set(keyOf(link.epoch, stored.serial), device);
    this.#byEpoch.set(link.epoch, (this.#byEpoch.get(link.epoch) ?? new Set()).add(device));
  }

  release(device: HeldDevice): void {
    const { stored, link } = device;
    this.#byId.delete(stored.id);
    this.#bySerial.delete(keyOf(link.epoch, stored.serial));
    const ofEpoch = this.#byEpoch.get(link.epoch);
    ofEpoch?.delete(device);
    if (ofEpoch?.size === 0) this.#byEpoch.delete(link.epoch);
  }

  /** Releases all devices of the host and returns them. */
  releaseAll(link: HostLink): HeldDevice[] {
    const devices = this.ofEpoch(link.epoch);
    for (const device of devices) this.release(device);
    return devices;
  }
}
