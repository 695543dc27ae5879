import {
  ADB_SERVER_DEFAULT_FEATURES,
  AdbBanner,
  type AdbFeature,
  type AdbServerClient,
  type AdbSocket,
  type AdbTransport,
} from '@yume-chan/adb';
import type { ListedDevice } from './device-list.ts';

/**
 * A phone behind an adb server. Tango's own transport keeps every socket it ever opened until it is closed,
 * which a host that runs for weeks can't afford: this one forgets a socket when it ends.
 */
export class AdbServerTransport implements AdbTransport {
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
