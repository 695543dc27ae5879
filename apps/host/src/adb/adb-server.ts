import { type Address, formatAddress } from '@phalanx/settings';
import { AdbServerClient } from '@yume-chan/adb';
import type { Logger } from 'pino';

import { pause, withTimeLimit } from '../time/time-limit.ts';
import { AdbServerDevice } from './adb-server-device.ts';
import { type ListedDevice, parseDeviceList } from './device-list.ts';
import type { LinkListener, LinkSource } from './link.ts';
import { openTcpSocket, toByteStreams } from './tcp-socket.ts';
import { returnHint } from './trouble-reason.ts';

const answerTimeoutMs = 5000;

export interface AdbServerOptions {
  readonly address: Address;
  readonly log: Logger;
  readonly onLink: LinkListener;
  /** Pause between looks for a server that is not there. Default 3000. */
  readonly retryMs?: number | undefined;
  /** How often the list is read even though the server pushes it: adb before 34 forgets to push some changes. Default 2000. */
  readonly pollMs?: number | undefined;
}

/** Follows the phones of an adb server, whenever one runs at the address. */
export function watchAdbServer(options: AdbServerOptions): LinkSource {
  const closing = new AbortController();
  const done = follow(options, closing.signal);
  return {
    async close() {
      closing.abort();
      await done;
    },
  };
}

async function follow(options: AdbServerOptions, closing: AbortSignal): Promise<void> {
  const { address, log, retryMs = 3000 } = options;
  const name = formatAddress(address);
  let wasThere = true;
  let stranded: readonly AdbServerDevice[] = [];
  while (!closing.aborted) {
    const devices = new Map<bigint, AdbServerDevice>();
    const onAnswer = (): void => {
      wasThere = true;
      for (const device of stranded) device.remove(returnReason(name, device, [...devices.values()]));
      stranded = [];
    };
    try {
      await followOnce(options, devices, closing, onAnswer);
    } catch (error) {
      if (wasThere && !closing.aborted)
        log.info({ adbServer: name, reason: String(error) }, 'no adb server; will keep looking');
      wasThere = false;
    }
    // A new server counts its transports from 1 again: nothing of the old list may stay.
    const reason = `The adb server at ${name} stopped. Start it with "adb start-server".`;
    for (const device of devices.values()) device.strand(reason);
    stranded = [...stranded, ...devices.values()];
    await pause(retryMs, closing);
  }
  for (const device of stranded) device.remove('The host is stopping.');
}

/** What is to be told of a phone of the server before this one. */
function returnReason(
  name: string,
  { device }: AdbServerDevice,
  devices: readonly AdbServerDevice[],
): string {
  return devices.some((other) => other.device.serial === device.serial)
    ? `The adb server at ${name} runs again. Connecting to the phone ${device.serial}.`
    : `The adb server at ${name} runs again, but does not list the phone ${device.serial}. ${returnHint(device)}`;
}

/** Returns or throws when the server is gone. */
async function followOnce(
  options: AdbServerOptions,
  devices: Map<bigint, AdbServerDevice>,
  closing: AbortSignal,
  onAnswer: () => void,
): Promise<void> {
  const client = new AdbServerClient(connectorTo(options.address));
  const apply = (list: readonly ListedDevice[]): void => applyList(client, devices, list, options.onLink);
  const lost = new AbortController();
  const onClosing = (): void => lost.abort(new Error('The host is stopping'));
  closing.addEventListener('abort', onClosing, { once: true });
  try {
    apply(await readDeviceList(client, lost.signal));
    onAnswer();
    options.log.info({ adbServer: formatAddress(options.address) }, 'following the adb server');
    await Promise.race([
      followPushes(client, apply, lost.signal),
      poll(client, apply, options.pollMs ?? 2000, lost.signal),
    ]);
  } finally {
    closing.removeEventListener('abort', onClosing);
    lost.abort(new Error('The adb server is gone'));
  }
}

async function followPushes(
  client: AdbServerClient,
  apply: (list: ListedDevice[]) => void,
  signal: AbortSignal,
): Promise<void> {
  const stream = await client.createConnection('host:track-devices-l', { signal });
  const onAbort = (): void => void stream.dispose();
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    while (!signal.aborted) apply(parseDeviceList(await stream.readString()));
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function poll(
  client: AdbServerClient,
  apply: (list: ListedDevice[]) => void,
  pollMs: number,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await pause(pollMs, signal);
    if (!signal.aborted)
      apply(await readDeviceList(client, signal).catch((error: unknown) => rethrowUnless(signal, error)));
  }
}

function rethrowUnless(signal: AbortSignal, error: unknown): never[] {
  if (signal.aborted) return [];
  throw error;
}

function applyList(
  client: AdbServerClient,
  devices: Map<bigint, AdbServerDevice>,
  list: readonly ListedDevice[],
  onLink: LinkListener,
): void {
  const listed = new Set(list.map(({ transportId }) => transportId));
  for (const [id, device] of devices) {
    if (listed.has(id)) continue;
    devices.delete(id);
    device.leave();
  }
  for (const row of list) {
    const device = devices.get(row.transportId) ?? new AdbServerDevice(client, row, onLink);
    devices.set(row.transportId, device);
    device.update(row);
  }
}

/** Asks an adb server for its list, once. */
async function readDeviceList(client: AdbServerClient, signal: AbortSignal): Promise<ListedDevice[]> {
  const onTimeout = (): Error => new Error(`The adb server did not answer in ${answerTimeoutMs} ms`);
  return await withTimeLimit({ timeoutMs: answerTimeoutMs, signals: [signal], onTimeout }, async (limit) => {
    const stream = await client.createConnection('host:devices-l', { signal: limit });
    try {
      return parseDeviceList(await stream.readString());
    } finally {
      await stream.dispose();
    }
  });
}

const connectTimeoutMs = 5000;

/** How Tango's client reaches an adb server. An aborted signal ends the connection at any time of its life. */
export function connectorTo(address: Address): AdbServerClient.ServerConnector {
  const unused = (): never => {
    throw new Error('Reverse tunnels are not used');
  };
  return {
    async connect(options) {
      const socket = await openTcpSocket(address, connectTimeoutMs);
      if (options?.unref === true) socket.unref();
      const destroy = (): void => void socket.destroy();
      options?.signal?.addEventListener('abort', destroy);
      socket.once('close', () => options?.signal?.removeEventListener('abort', destroy));
      if (options?.signal?.aborted === true) destroy();
      return toByteStreams(socket);
    },
    addReverseTunnel: unused,
    removeReverseTunnel: () => {},
    clearReverseTunnels: () => {},
  };
}
