import { constants, privateEncrypt } from 'node:crypto';
import type { Socket } from 'node:net';
import {
  AdbAuthType,
  AdbCommand,
  AdbDaemonTransport,
  AdbPublicKeyAuthenticator,
  type AdbAuthenticator,
  type AdbCredentialStore,
} from '@yume-chan/adb';
import { pause } from '../time/time-limit.ts';
import type { HostKey } from './host-key.ts';
import { toPacketStreams } from './packet-stream.ts';

// ASN.1 of "this is a SHA-1 digest" (RFC 8017, section 9.2): ADB signs its 20 byte token as if it were one.
const sha1DigestInfo = Buffer.from('3021300906052b0e03021a05000414', 'hex');
// 'STLS': the phone is in wireless debugging mode and wants TLS with a paired key.
const startTls = 0x53_4c_54_53;
// A phone that asks again and again is answered at this pace.
const publicKeyPauseMs = 1000;

export interface Handshake {
  readonly socket: Socket;
  readonly serial: string;
  readonly key: HostKey;
  /** The phone does not know the key and now shows its dialog. */
  readonly onUnauthorized: () => void;
  readonly onTlsDemand: () => void;
  readonly signal: AbortSignal;
}

/** Speaks CNXN and AUTH until the phone accepts. Waits as long as the phone's dialog is open; destroy the socket to give up. */
export async function authenticate(handshake: Handshake): Promise<AdbDaemonTransport> {
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

/** AOSP's adbd reads the number in `tcp:6790` up to a NUL (socket_spec.cpp), which adb sends and the client library does not. */
function withEndedNames(transport: AdbDaemonTransport): AdbDaemonTransport {
  const connect = transport.connect.bind(transport);
  transport.connect = (service) => connect(`${service}\0`);
  return transport;
}

function storeOf({ privateKey, name }: HostKey): AdbCredentialStore {
  const key = { buffer: new Uint8Array(privateKey.export({ type: 'pkcs8', format: 'der' })), name };
  return { generateKey: () => key, iterateKeys: () => [key] };
}

/** OpenSSL signs in a millisecond; the client library's own BigInt arithmetic blocks the event loop for ten times that. */
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
