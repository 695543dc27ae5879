import type { Socket } from 'node:net';
import type { Address } from '@phalanx/settings';
import { Adb } from '@yume-chan/adb';
import { authenticate } from './authenticate.ts';
import type { HostKey } from './host-key.ts';
import type { AdbConnection, LinkStatus, TrackedLink } from './link.ts';
import { openTcpSocket } from './tcp-socket.ts';

export interface DirectConnectionOptions {
  readonly address: Address;
  readonly key: HostKey;
  /** For the TCP connection, and again for the phone's answer to CNXN. Default 5000. */
  readonly timeoutMs?: number | undefined;
}

/** Tries once to connect. A failure is a status as well. While the phone's user is asked, the link says so. */
export async function openDirectConnection(
  link: TrackedLink,
  options: DirectConnectionOptions,
  closing: AbortSignal,
): Promise<LinkStatus> {
  const { address, timeoutMs = 5000 } = options;
  let socket: Socket;
  try {
    socket = await openTcpSocket(address, timeoutMs, closing);
    endWith(socket, closing);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return trouble(
      'offline',
      `No connection to ${link.name} (${why}). Check that the phone is on, on this network and listens for ADB. After a restart it does so only when it is plugged in and told "adb tcpip" again.`,
    );
  }
  return await shakeHands(link, options, socket);
}

async function shakeHands(
  link: TrackedLink,
  { key, timeoutMs = 5000 }: DirectConnectionOptions,
  socket: Socket,
): Promise<LinkStatus> {
  const gone = goneWith(socket, link.name);
  let verdict = trouble(
    'offline',
    `${link.name} accepts connections but does not answer as ADB. Switch USB debugging off and on again, or restart the phone.`,
  );
  const timer = setTimeout(() => socket.destroy(), timeoutMs);
  const onUnauthorized = (): void => {
    clearTimeout(timer);
    verdict = trouble(
      'unauthorized',
      `The phone at ${link.name} does not know this host yet. Confirm "Allow USB debugging" (with "Always allow") on its screen.`,
    );
    link.setStatus(verdict);
  };
  const onTlsDemand = (): void => {
    verdict = trouble(
      'offline',
      `${link.name} asks for wireless debugging with TLS, which goes through an adb server: "adb pair" with the address and code that the phone shows, then "adb connect ${link.name}". Or plug it in once and use "adb tcpip 5555".`,
    );
    socket.destroy();
  };
  try {
    const transport = await authenticate({
      socket,
      serial: link.name,
      key,
      onUnauthorized,
      onTlsDemand,
      signal: gone.signal,
    });
    transport.disconnected.catch(() => {}).finally(() => socket.destroy());
    return { state: 'connected', connection: connectionOf(new Adb(transport), socket, gone) };
  } catch {
    socket.destroy();
    return verdict;
  } finally {
    clearTimeout(timer);
  }
}

function connectionOf(adb: Adb, socket: Socket, gone: AbortController): AdbConnection {
  return {
    reach: 'direct-tcp',
    adb,
    gone: gone.signal,
    close(reason = 'the host closed it') {
      // First the reason: the streams on the connection fail one by one as soon as the socket is destroyed.
      gone.abort(new Error(`The connection ended: ${reason}`));
      socket.destroy();
    },
  };
}

function goneWith(socket: Socket, name: string): AbortController {
  const gone = new AbortController();
  let cause = '';
  socket.once('error', (error) => (cause = ` (${error.message})`));
  socket.once('close', () => gone.abort(new Error(`The connection to ${name} closed${cause}`)));
  return gone;
}

function endWith(socket: Socket, closing: AbortSignal): void {
  const onAbort = (): void => void socket.destroy();
  closing.addEventListener('abort', onAbort, { once: true });
  socket.once('close', () => closing.removeEventListener('abort', onAbort));
}

function trouble(state: Exclude<LinkStatus['state'], 'connected'>, reason: string): LinkStatus {
  return { state, reason };
}
