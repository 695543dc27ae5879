import type { Socket } from 'node:net';
import { constants, privateEncrypt } from 'node:crypto';

import { formatAddress, type Address, errorText } from '@phalanx/settings';
import {
  Adb,
  AdbAuthType,
  AdbCommand,
  AdbDaemonTransport,
  AdbPublicKeyAuthenticator,
  type AdbAuthenticator,
  type AdbCredentialStore,
} from '@yume-chan/adb';

import { createBackoff } from '../time/backoff.ts';
import { anyAborted, pause } from '../time/time-limit.ts';
import {
  type LinkListener,
  type LinkSource,
  TrackedLink,
  type AdbConnection,
  type LinkStatus,
} from './link.ts';
import type { HostKey } from './host-key.ts';
import { openTcpSocket } from './tcp-socket.ts';
import { toPacketStreams } from './packet-stream.ts';

export interface DirectTcpOptions extends DirectConnectionOptions {
  readonly onLink: LinkListener;
}

// A shorter-lived connection doesn't count as a success. Otherwise the host would redial a phone that drops every
// connection without a pause.
const steadyMs = 20_000;

/** Keeps an ADB connection to the daemon of the phone at an address, without an adb server in between. */
export function watchAddress(options: DirectTcpOptions): LinkSource {
  const name = formatAddress(options.address);
  const link = new TrackedLink('direct-tcp', { name, place: name }, options.onLink);
  const closing = new AbortController();
  options.onLink(link);
  const done = keepConnected(link, options, closing.signal);
  return {
    async close() {
      closing.abort();
      link.setStatus({ state: 'unplugged', reason: 'The host is stopping.' });
      await done;
    },
  };
}

async function keepConnected(
  link: TrackedLink,
  options: DirectTcpOptions,
  closing: AbortSignal,
): Promise<void> {
  const backoff = createBackoff();
  while (!closing.aborted) {
    const status = await openDirectConnection(link, options, closing);
    if (closing.aborted) {
      if (status.state === 'connected') status.connection.close();
      return;
    }
    link.setStatus(status);
    if (status.state === 'connected') {
      const connectedAt = performance.now();
      await anyAborted(status.connection.gone, closing);
      if (performance.now() - connectedAt > steadyMs) backoff.reset();
      if (!closing.aborted)
        link.setStatus({
          state: 'connecting',
          reason: `The connection to ${link.name} broke. Connecting again.`,
        });
    }
    await pause(backoff.nextMs(), closing);
  }
}

// ASN.1 of "this is a SHA-1 digest" (RFC 8017, section 9.2): ADB signs its 20 byte token as if it were one.
const sha1DigestInfo = Buffer.from('3021300906052b0e03021a05000414', 'hex');
// 'STLS': the phone is in wireless debugging mode and wants TLS with a paired key.
const startTls = 0x53_4c_54_53;
// Pause before the public key is offered again to a phone that keeps asking for authentication.
const publicKeyPauseMs = 1000;

interface DirectConnectionOptions {
  readonly address: Address;
  readonly key: HostKey;
  /** Timeout in ms of the TCP connection, and again of the phone's answer to CNXN. Default 5000. */
  readonly timeoutMs?: number | undefined;
}

/** Attempts one connection. Returns a failure as a status. The link shows its status while the phone asks its user. */
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
    const why = errorText(error);
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
      // Aborts with the reason first: the streams on the connection fail one by one as soon as the socket is destroyed.
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

interface Handshake {
  readonly socket: Socket;
  readonly serial: string;
  readonly key: HostKey;
  /** Called when the phone does not know the key and shows its dialog. */
  readonly onUnauthorized: () => void;
  readonly onTlsDemand: () => void;
  readonly signal: AbortSignal;
}

/**
 * Performs the CNXN and AUTH handshake until the phone accepts. Waits for as long as the phone's dialog is open;
 * destroy the socket to give up.
 */
async function authenticate(handshake: Handshake): Promise<AdbDaemonTransport> {
  const { socket, serial, key } = handshake;
  const connection = toPacketStreams(socket, (command) => {
    if (command === startTls) handshake.onTlsDemand();
  });
  const authenticators = [signToken(key), offerPublicKey(handshake)];
  return withEndedNames(
    await AdbDaemonTransport.authenticate({
      serial,
      connection,
      credentialStore: storeOf(key),
      authenticators,
    }),
  );
}

/**
 * Terminates service names with a NUL: AOSP's adbd reads the number in `tcp:6790` up to a NUL (socket_spec.cpp). adb
 * sends the NUL, but the client library does not.
 */
function withEndedNames(transport: AdbDaemonTransport): AdbDaemonTransport {
  const connect = transport.connect.bind(transport);
  transport.connect = (service) => connect(`${service}\0`);
  return transport;
}

function storeOf({ privateKey, name }: HostKey): AdbCredentialStore {
  const key = { buffer: new Uint8Array(privateKey.export({ type: 'pkcs8', format: 'der' })), name };
  return { generateKey: () => key, iterateKeys: () => [key] };
}

/**
 * Signs with OpenSSL, which takes a millisecond. The client library's own BigInt arithmetic blocks the event loop for
 * ten times as long.
 */
function signToken({ privateKey }: HostKey): AdbAuthenticator {
  return async function* sign(_store, getNextRequest) {
    const { payload } = await getNextRequest();
    const digestInfo = Buffer.concat([sha1DigestInfo, payload]);
    const signature = privateEncrypt({ key: privateKey, padding: constants.RSA_PKCS1_PADDING }, digestInfo);
    yield {
      command: AdbCommand.Auth,
      arg0: AdbAuthType.Signature,
      arg1: 0,
      payload: new Uint8Array(signature),
    };
  };
}

function offerPublicKey({ onUnauthorized, signal }: Handshake): AdbAuthenticator {
  return async function* offer(store, getNextRequest) {
    while (!signal.aborted) {
      await getNextRequest();
      onUnauthorized();
      yield* AdbPublicKeyAuthenticator(store, getNextRequest);
      await pause(publicKeyPauseMs, signal);
    }
  };
}
