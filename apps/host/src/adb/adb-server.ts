import { type Address, formatAddress } from '@phalanx/settings';
import { AdbServerClient } from '@yume-chan/adb';
import type { Logger } from 'pino';

import { pause, withTimeLimit } from '../time/time-limit.ts';
import { AdbServerDevice } from './adb-server-device.ts';
import { type ListedDevice, parseDeviceList, returnHint } from './device-list.ts';
import type { LinkListener, LinkSource } from './link.ts';
import { openTcpSocket, toByteStreams } from './tcp-socket.ts';
import type { ReconnectPauses } from './reconnect.ts';
import { isNetworkName } from './wireless.ts';

const answerTimeoutMs = 5000;

export interface AdbServerOptions {
  readonly address: Address;
  readonly log: Logger;
  readonly onLink: LinkListener;
  /** Pause between attempts to reach a server that does not answer, in ms. Default 3000. */
  readonly retryMs?: number | undefined;
  /**
   * Poll interval of the list in ms. Default 2000. The server pushes the list as well, but adb before 34 misses some
   * changes.
   */
  readonly pollMs?: number | undefined;
  /** Pauses before a phone that stays offline is reconnected. */
  readonly reconnectPauses?: ReconnectPauses | undefined;
}

/** Reason why phones at an adb server can't be found, and what to do. */
export const noAdbServer = (address: Address): string =>
  `No adb server answers at ${formatAddress(address)}. Start it with "adb start-server".`;

/** Follows the phones of the adb server at an address, whenever one runs there. */
export function watchAdbServer(options: AdbServerOptions): LinkSource {
  const closing = new AbortController();
  const reach = { isThere: true };
  const done = follow(options, closing.signal, reach);
  return {
    get problem() {
      return reach.isThere ? undefined : noAdbServer(options.address);
    },
    async close() {
      closing.abort();
      await done;
    },
  };
}

/** Whether the adb server answered the last request. */
interface Reach {
  isThere: boolean;
}

async function follow(options: AdbServerOptions, closing: AbortSignal, reach: Reach): Promise<void> {
  const { address, log, retryMs = 3000 } = options;
  const name = formatAddress(address);
  const client = new AdbServerClient(connectorTo(address));
  let stranded: readonly AdbServerDevice[] = [];
  const reconnecting = new Set<AdbServerDevice>();
  while (!closing.aborted) {
    const devices = new Map<bigint, AdbServerDevice>();
    const onAnswer = (): void => {
      reach.isThere = true;
      for (const device of stranded) {
        const reason = returnReason(name, device, [...devices.values()]);
        if (isListed(device, devices.values()) || !isNetworkName(device.device.serial)) device.remove(reason);
        else {
          device.connectAgain(reason);
          reconnecting.add(device);
        }
      }
      stranded = [];
    };
    try {
      await followOnce(client, { devices, reconnecting }, { ...options, closing, onAnswer });
    } catch (error) {
      if (reach.isThere && !closing.aborted)
        log.info({ reason: String(error) }, `${noAdbServer(address)} The host keeps looking for it.`);
      reach.isThere = false;
    }
    // A new server counts its transports from 1 again: no device of the old list may stay.
    const reason = `The adb server at ${name} stopped. Start it with "adb start-server".`;
    for (const device of devices.values()) device.strand(reason);
    stranded = [...stranded, ...devices.values()];
    await pause(retryMs, closing);
  }
  for (const device of [...stranded, ...reconnecting]) device.remove('The host is stopping.');
}

const isListed = ({ device }: AdbServerDevice, devices: Iterable<AdbServerDevice>): boolean =>
  [...devices].some((other) => other.device.serial === device.serial);

/** Returns the status reason of a phone that the adb server had before its restart. */
function returnReason(name: string, from: AdbServerDevice, devices: readonly AdbServerDevice[]): string {
  const { device } = from;
  return isListed(from, devices)
    ? `The adb server at ${name} runs again. Connecting to the phone ${device.serial}.`
    : `The adb server at ${name} runs again, but does not list the phone ${device.serial}. ${returnHint(device)}`;
}

interface Known {
  /** Phones by the transport ID that the server assigned. */
  readonly devices: Map<bigint, AdbServerDevice>;
  /** Network phones that are in no list and are being reconnected. */
  readonly reconnecting: Set<AdbServerDevice>;
}

/** Follows an adb server until it is lost, and then returns or throws. */
async function followOnce(
  client: AdbServerClient,
  known: Known,
  options: AdbServerOptions & { closing: AbortSignal; onAnswer: () => void },
): Promise<void> {
  const { closing, onAnswer } = options;
  const apply = (list: readonly ListedDevice[]): void => applyList(client, known, list, options);
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
  { devices, reconnecting }: Known,
  list: readonly ListedDevice[],
  options: Pick<AdbServerOptions, 'onLink' | 'reconnectPauses'>,
): void {
  const listed = new Set(list.map(({ transportId }) => transportId));
  for (const [id, device] of devices) {
    if (listed.has(id)) continue;
    devices.delete(id);
    if (device.outlivesRow) reconnecting.add(device);
    else device.leave();
  }
  for (const device of reconnecting) if (!device.outlivesRow) reconnecting.delete(device);
  for (const row of list) {
    const known = devices.get(row.transportId) ?? takeReconnecting(reconnecting, row.serial);
    const device = known ?? new AdbServerDevice(client, row, options);
    devices.set(row.transportId, device);
    device.update(row);
  }
}

function takeReconnecting(reconnecting: Set<AdbServerDevice>, serial: string): AdbServerDevice | undefined {
  const device = [...reconnecting].find((one) => one.device.serial === serial);
  if (device !== undefined) reconnecting.delete(device);
  return device;
}

/** Reads the list of the adb server at an address once. */
export const listDevices = (address: Address, signal: AbortSignal): Promise<ListedDevice[]> =>
  readDeviceList(new AdbServerClient(connectorTo(address)), signal);

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

/**
 * Connector of Tango's client to an adb server. An aborted signal closes the connection, also one that is already open.
 */
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
