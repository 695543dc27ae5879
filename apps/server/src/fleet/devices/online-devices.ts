import { setTimeout as pause } from 'node:timers/promises';
import type { DeviceOutcome } from '@phalanx/protocol';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { boundedList } from '../../kernel/errors/bounded-list.ts';
import type { DeviceAccess, SeenDevice } from './device-access.ts';
import type { FleetDevice } from './fleet-device.ts';

export interface OnlineDevice {
  device: FleetDevice;
  /** Epoch of the connection of its host. */
  epoch: number;
}

/** Maximum time to wait for a device, in ms; slightly longer than a device counts as returning. */
const maxWaitMs = 3500;
const lookEveryMs = 50;

/** Reason why a device can't be used: a stable code, and the text that follows the device name in a message. */
interface Obstacle {
  code: string;
  reason: string;
}

const whyNot = ({ state, reason }: FleetDevice): Obstacle | undefined =>
  state === 'ready' ? undefined : { code: state, reason: `${state}: ${reason}` };

function whoElse({ leases }: DeviceAccess, device: FleetDevice, userId: string): Obstacle | undefined {
  const other = leases.findOther(device, userId);
  if (other === undefined) return undefined;
  return { code: 'device_leased', reason: `controlled by hand by ${other.user} until ${other.until}` };
}

/** Returns the name of a phone for messages. It contains the serial number, by which people know the phone. */
export const nameOf = ({ id, serial }: Pick<FleetDevice, 'id' | 'serial'>): string => `${id} ${serial}`;

/**
 * Finds the devices whose runs are to be stopped. Accepts unresponsive phones whose host is connected, because their
 * runs still have to be stopped.
 */
export async function getStoppableDevices(
  access: DeviceAccess,
  userId: string,
  deviceIds: readonly string[],
  hasRuns: (deviceId: string) => boolean,
): Promise<OnlineDevice[]> {
  const stoppable = (device: FleetDevice): boolean => device.epoch !== null && hasRuns(device.id);
  const wanted = [...new Set(deviceIds)];
  const seen = await access.findAll(wanted, userId);
  return requireEach(wanted, seen, (device) => (stoppable(device) ? undefined : whyNot(device)));
}

/**
 * Returns the devices with these IDs if all of them are online, the user may launch on them, and no other user has
 * leased them. Otherwise throws `devices_unavailable`, which names each unavailable device. Waits for a host that is
 * moving between servers.
 */
export async function getOnlineDevices(
  access: DeviceAccess,
  userId: string,
  deviceIds: readonly string[],
): Promise<OnlineDevice[]> {
  const until = performance.now() + maxWaitMs;
  for (;;) {
    const online = await findOnlineNow(access, userId, deviceIds, performance.now() < until);
    if (online !== 'returning') return online;
    await pause(lookEveryMs);
  }
}

/**
 * Checks the devices once, with the same errors. Returns `returning` when a host may reconnect shortly. A caller that
 * no longer waits for this passes `mayReturn` as false.
 */
export async function findOnlineNow(
  access: DeviceAccess,
  userId: string,
  deviceIds: readonly string[],
  mayReturn = true,
): Promise<OnlineDevice[] | 'returning'> {
  const wanted = [...new Set(deviceIds)];
  const seen = await access.findAll(wanted, userId);
  if (mayReturn && areReturning(seen)) return 'returning';
  return requireEach(wanted, seen, (device) => whyNot(device) ?? whoElse(access, device, userId));
}

/** Whether some devices are offline, and all of those may return shortly. */
function areReturning(seen: ReadonlyMap<string, SeenDevice>): boolean {
  const offline = [...seen.values()].filter(({ device }) => device.state === 'offline');
  return offline.length > 0 && offline.every(({ device }) => device.isReturning);
}

function requireEach(
  wanted: readonly string[],
  seen: ReadonlyMap<string, SeenDevice>,
  whyNotThis: (device: FleetDevice) => Obstacle | undefined,
): OnlineDevice[] {
  const obstacles = new Map<string, Obstacle & { name: string }>();
  const online: OnlineDevice[] = [];
  for (const id of wanted) {
    const { device, role } = seen.get(id) ?? {};
    if (device === undefined) {
      obstacles.set(id, { ...notFound, name: id });
      continue;
    }
    const obstacle = role === 'view' ? viewOnly : whyNotThis(device);
    if (obstacle !== undefined) obstacles.set(id, { ...obstacle, name: nameOf(device) });
    else if (device.epoch !== null) online.push({ device, epoch: device.epoch });
  }
  if (obstacles.size === 0) return online;
  const named = [...obstacles.values()].map(({ name, reason }) => `${name} (${reason})`);
  throw ApiError.of(
    'devices_unavailable',
    { devices: boundedList(named) },
    {
      devices: wanted.map((id) => refusalOf(id, obstacles.get(id))),
    },
  );
}

const notFound: Obstacle = { code: 'device_not_found', reason: 'not found' };
const viewOnly: Obstacle = { code: 'forbidden', reason: 'shared with you to view only' };

function refusalOf(deviceId: string, obstacle: (Obstacle & { name: string }) | undefined): DeviceOutcome {
  const reason =
    obstacle === undefined ? 'Other devices are not available.' : `${obstacle.name}: ${obstacle.reason}`;
  const code = obstacle?.code ?? 'devices_unavailable';
  return { device_id: deviceId, outcome: 'refused', code, reason, run_id: null };
}
