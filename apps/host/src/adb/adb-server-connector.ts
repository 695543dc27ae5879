import type { Address } from '@phalanx/settings';
import type { AdbServerClient } from '@yume-chan/adb';
import { openTcpSocket, toByteStreams } from './tcp-socket.ts';

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
