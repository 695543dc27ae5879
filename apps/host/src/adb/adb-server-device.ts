import {
  Adb,
  type AdbServerClient,
  ADB_SERVER_DEFAULT_FEATURES,
  AdbBanner,
  type AdbFeature,
  type AdbSocket,
  type AdbTransport,
} from '@yume-chan/adb';

import { createBackoff } from '../time/backoff.ts';
import { anyAborted, pause, withTimeLimit } from '../time/time-limit.ts';
import { type ListedDevice, leftReason, troubleReason } from './device-list.ts';
import { type AdbConnection, type LinkListener, type LinkStatus, TrackedLink } from './link.ts';
import { keepReconnecting, type ReconnectPauses } from './reconnect.ts';
import { isNetworkName } from './wireless.ts';

/**
 * Transport to a phone behind an adb server. Tango's own transport keeps every socket it ever opened until the
 * transport is closed, which a host that runs for weeks can't afford. This transport drops a socket when the socket
 * closes.
 */
class AdbServerTransport implements AdbTransport {
  readonly serial: string;
  readonly maxPayloadSize = 1024 * 1024;
  readonly banner: AdbBanner;
  readonly disconnected: Promise<void>;
  readonly clientFeatures = ADB_SERVER_DEFAULT_FEATURES;
  readonly #client: AdbServerClient;
  readonly #transportId: bigint;
  readonly #sockets = new Set<AdbSocket>();
  readonly #closed = Promise.withResolvers<void>();

  constructor(client: AdbServerClient, device: ListedDevice, features: readonly AdbFeature[]) {
    this.#client = client;
    this.#transportId = device.transportId;
    this.serial = device.serial;
    this.banner = new AdbBanner('device', device.product, device.model, device.device, features);
    this.disconnected = this.#closed.promise;
  }

  async connect(service: string): Promise<AdbSocket> {
    const socket = await this.#client.createDeviceConnection({ transportId: this.#transportId }, service);
    this.#sockets.add(socket);
    void socket.closed.finally(() => this.#sockets.delete(socket));
    return socket;
  }

  addReverseTunnel(): never {
    throw new Error('Reverse tunnels are not used');
  }

  removeReverseTunnel(): void {}

  clearReverseTunnels(): void {}

  async close(): Promise<void> {
    this.#closed.resolve();
    await Promise.allSettled([...this.#sockets].map(async (socket) => await socket.close()));
  }
}

const openTimeoutMs = 5000;
// A shorter-lived connection does not count as a success: detecting that a phone hangs takes some seconds.
const steadyMs = 20_000;

/** Row of the adb server's list. Keeps a connection open for as long as the row says `device`. */
export class AdbServerDevice {
  readonly #client: AdbServerClient;
  readonly #link: TrackedLink;
  readonly #pauses: ReconnectPauses | undefined;
  /** Row of the adb server's list, as last listed. */
  #device: ListedDevice;
  #state: ListedDevice['state'] | undefined;
  #keeping: AbortController | undefined;
  #isReconnecting = false;

  constructor(
    client: AdbServerClient,
    device: ListedDevice,
    { onLink, reconnectPauses }: { onLink: LinkListener; reconnectPauses?: ReconnectPauses | undefined },
  ) {
    this.#client = client;
    this.#device = device;
    this.#pauses = reconnectPauses;
    this.#link = new TrackedLink('adb-server', { name: device.serial, place: placeOf(device) }, onLink);
  }

  get device(): ListedDevice {
    return this.#device;
  }

  /**
   * Whether the phone is being reconnected although its row has left the list. A connected phone whose row leaves was
   * disconnected by a person.
   */
  get outlivesRow(): boolean {
    return this.#isReconnecting && isNetworkName(this.#device.serial);
  }

  /** Applies the current row of the list. */
  update(device: ListedDevice): void {
    this.#device = device;
    if (device.state === this.#state) return;
    this.#state = device.state;
    this.#keeping?.abort(new Error(troubleReason(device)));
    this.#isReconnecting = false;
    if (device.state === 'device') void this.#keepConnected(device);
    else this.#link.setStatus({ state: device.state, reason: troubleReason(device) });
    if (device.state === 'offline') void this.#reconnect();
  }

  /** Reconnects a phone that the previous adb server had. The new server finds only phones on USB by itself. */
  connectAgain(reason: string): void {
    this.#end({ state: 'offline', reason });
    this.#state = 'offline';
    void this.#reconnect();
    this.#isReconnecting = true;
  }

  /** Marks the link as unplugged, because the row has left the list. */
  leave(): void {
    this.#end({ state: 'unplugged', reason: leftReason(this.device), hasLeftList: true });
  }

  /** Marks the link as offline, because the list is lost. */
  strand(reason: string): void {
    this.#end({ state: 'offline', reason });
  }

  /** Marks the link as unplugged, because the list no longer updates it. */
  remove(reason: string): void {
    this.#end({ state: 'unplugged', reason });
  }

  #end(status: Exclude<LinkStatus, { state: 'connected' }>): void {
    this.#state = undefined;
    this.#isReconnecting = false;
    this.#keeping?.abort(new Error(status.reason));
    this.#link.setStatus(status);
  }

  async #reconnect(): Promise<void> {
    const keeping = new AbortController();
    this.#keeping = keeping;
    const movedTo = await keepReconnecting({
      client: this.#client,
      device: () => this.#device,
      phone: () => this.#link.ledTo,
      pauses: this.#pauses,
      signal: keeping.signal,
      onBegin: () => {
        this.#isReconnecting = true;
      },
      onTry: ({ repair, next }) => {
        const reason = troubleReason(this.#device, `${repair}, ${next}`);
        this.#link.setStatus({ state: 'offline', reason, repair: `${repair}.` });
      },
    });
    if (movedTo !== undefined && !keeping.signal.aborted)
      this.remove(`The phone is at ${movedTo} now, and no longer at ${this.#device.serial}.`);
  }

  async #keepConnected(device: ListedDevice): Promise<void> {
    const keeping = new AbortController();
    this.#keeping = keeping;
    const backoff = createBackoff();
    for (let failures = 1; !keeping.signal.aborted; failures += 1) {
      if (await this.#connectOnce(device, keeping.signal)) {
        backoff.reset();
        failures = 0;
      }
      // Reconnects the server's own connection when it is stuck: a new connection through the server does not help
      // then. Only on USB, because adb 29 drops a network phone that does not answer the reconnect.
      if (failures > 1 && device.usbPath !== undefined) void this.#kick(device);
      await pause(backoff.nextMs(), keeping.signal);
    }
  }

  /** Returns, after the connection has ended, whether it lasted long enough to count as a success. */
  async #connectOnce(device: ListedDevice, signal: AbortSignal): Promise<boolean> {
    const connection = await this.#open(device, signal);
    if (connection === undefined) {
      const reason = `The adb server lists the phone ${device.serial}, but gives no connection to it. Trying again.`;
      if (!signal.aborted) this.#link.setStatus({ state: 'offline', reason });
      return false;
    }
    if (signal.aborted) connection.close();
    const connectedAt = performance.now();
    if (!signal.aborted) this.#link.setStatus({ state: 'connected', connection });
    await anyAborted(connection.gone, signal);
    if (!signal.aborted)
      this.#link.setStatus({
        state: 'connecting',
        reason: `The connection to the phone ${device.serial} broke. Connecting again.`,
      });
    return performance.now() - connectedAt > steadyMs;
  }

  async #kick({ transportId }: ListedDevice): Promise<void> {
    const onTimeout = (): Error => new Error('The adb server did not answer');
    await withTimeLimit({ timeoutMs: openTimeoutMs, onTimeout }, () =>
      this.#client.reconnectDevice({ transportId }),
    ).catch(() => {});
  }

  async #open(device: ListedDevice, signal: AbortSignal): Promise<AdbConnection | undefined> {
    const onTimeout = (): Error => new Error(`The adb server gave no connection to ${device.serial}`);
    try {
      const limit = { timeoutMs: openTimeoutMs, signals: [signal], onTimeout };
      return await withTimeLimit(limit, () => openDevice(this.#client, device));
    } catch {
      return undefined;
    }
  }
}

/** Connection point of the phone: its USB port as adb writes it, or its address. */
export function placeOf({ usbPath, serial }: ListedDevice): string {
  return usbPath === undefined ? serial : `usb:${usbPath}`;
}

async function openDevice(client: AdbServerClient, device: ListedDevice): Promise<AdbConnection> {
  const { features } = await client.getDeviceFeatures({ transportId: device.transportId });
  const transport = new AdbServerTransport(client, device, features);
  const gone = new AbortController();
  const close = (reason = 'the host closed it'): void => {
    gone.abort(new Error(`The connection to ${device.serial} ended: ${reason}`));
    void transport.close();
  };
  // The server answers this request when the phone disconnects, long before it updates its list.
  client.waitForDisconnect(device.transportId, { signal: gone.signal }).then(
    () => close('adb lost the phone'),
    () => close('the adb server stopped'),
  );
  return { reach: 'adb-server', adb: new Adb(transport), gone: gone.signal, close };
}
