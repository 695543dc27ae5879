import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

import {
  adbCommand,
  type AdbMessage,
  encodeHeader,
  maxHandshakeBytes,
  maxPayloadBytes,
  oldestVersion,
  versionWithoutChecksum,
  MessageReader,
  ProtocolError,
} from './adb-message.ts';
import type { Authorization } from './authorization.ts';

const maxStreams = 128;
const authType = { token: 1, signature: 2, publicKey: 3 } as const;
const noPayload = Buffer.alloc(0);

/** Program behind a service, which reads and writes its stream. It ends or destroys the stream itself. */
export type ServiceProgram = (stream: Duplex) => void | Promise<void>;

/** Parts of the phone that a connection uses. */
export interface AdbDevice {
  readonly authorization: Authorization;
  readonly faults: {
    readonly hang: boolean;
    readonly offline: boolean;
    readonly unauthorized: boolean;
    readonly dropAfterBytes: number | undefined;
  };
  banner(): string;
  /** Returns the program of a service; undefined if this device does not know it, so that the stream is refused. */
  findService(name: string): Promise<ServiceProgram | undefined>;
}

/** The device side of one ADB connection. Lives until either side closes the socket. */
export class AdbConnection {
  readonly #socket: Socket;
  readonly #device: AdbDevice;
  readonly #streams = new Map<number, AdbStream>();
  readonly #reader: MessageReader;
  #nextId = 1;
  #version = oldestVersion;
  #peerMaxPayload = maxHandshakeBytes;
  #online = false;
  #token = noPayload;
  #sentBytes = 0;

  constructor(socket: Socket, device: AdbDevice) {
    this.#socket = socket;
    this.#device = device;
    this.#reader = new MessageReader({
      maxPayloadBytes: () => (this.#online ? maxPayloadBytes : maxHandshakeBytes),
      checksumRequired: () => this.#online && this.#version < versionWithoutChecksum,
    });
    socket.setNoDelay(true);
    socket.on('error', () => {});
    socket.on('close', () => this.#closeStreams());
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
  }

  /** Drops the connection like an unplugged cable. */
  drop(): void {
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    try {
      for (const message of this.#reader.push(chunk)) {
        if (this.#socket.destroyed) return;
        if (!this.#device.faults.hang) this.#handle(message);
      }
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.drop();
    }
  }

  #handle(message: AdbMessage): void {
    if (message.command === adbCommand.cnxn) return this.#handleConnect(message);
    if (message.command === adbCommand.auth) return this.#handleAuth(message);
    if (!this.#online) return;
    if (message.command === adbCommand.open) return this.#handleOpen(message);
    const stream = this.#streams.get(message.arg1);
    if (message.command === adbCommand.okay) return stream?.handleOkay();
    if (message.command === adbCommand.clse) return stream?.handleClose();
    if (message.command === adbCommand.wrte) return this.#handleWrite(message, stream);
    throw new ProtocolError('An ADB message has an unknown command.');
  }

  #handleConnect(message: AdbMessage): void {
    if (this.#device.faults.offline) return;
    this.#closeStreams();
    this.#version = Math.min(Math.max(message.arg0, oldestVersion), versionWithoutChecksum);
    this.#peerMaxPayload = Math.min(Math.max(message.arg1, 256), maxPayloadBytes);
    if (this.#device.authorization.required || this.#device.faults.unauthorized) this.#sendToken();
    else this.#goOnline();
  }

  #handleAuth(message: AdbMessage): void {
    if (this.#online || this.#token.length === 0) return;
    const { authorization, faults } = this.#device;
    if (message.arg0 === authType.signature) {
      const known = authorization.isSignedByKnownKey(this.#token, message.payload);
      return known && !faults.unauthorized ? this.#goOnline() : this.#sendToken();
    }
    if (message.arg0 !== authType.publicKey) throw new ProtocolError('Unknown kind of AUTH message.');
    if (faults.unauthorized) return;
    const isKey = authorization.ask(message.payload.toString('latin1'), () => this.#goOnline());
    if (!isKey) throw new ProtocolError('The AUTH message holds no Android public key.');
  }

  #sendToken(): void {
    this.#online = false;
    this.#token = randomBytes(20);
    this.#send(adbCommand.auth, authType.token, 0, this.#token);
  }

  #goOnline(): void {
    if (this.#socket.destroyed) return;
    this.#token = noPayload;
    this.#online = true;
    this.#send(adbCommand.cnxn, versionWithoutChecksum, maxPayloadBytes, Buffer.from(this.#device.banner()));
  }

  #handleOpen(message: AdbMessage): void {
    const remoteId = message.arg0;
    if (remoteId === 0) throw new ProtocolError('OPEN without a stream id.');
    if (this.#streams.size >= maxStreams) return this.#send(adbCommand.clse, 0, remoteId);
    const text = message.payload.toString('utf8');
    const name = text.replace(/\0+$/, '');
    // AOSP's adbd reads the number of a port up to a NUL that it does not add itself (socket_spec.cpp).
    if (name === text && name.startsWith('tcp:')) return this.#send(adbCommand.clse, 0, remoteId);
    void this.#open(name, remoteId);
  }

  async #open(name: string, remoteId: number): Promise<void> {
    const program = await this.#device.findService(name);
    if (this.#socket.destroyed || this.#device.faults.hang) return;
    if (!program) return this.#send(adbCommand.clse, 0, remoteId);
    const localId = this.#nextId++;
    const stream = createAdbStream({
      localId,
      remoteId,
      maxPayloadBytes: this.#peerMaxPayload,
      send: (command, arg0, arg1, payload) => this.#send(command, arg0, arg1, payload),
      onClosed: () => this.#streams.delete(localId),
    });
    this.#streams.set(localId, stream);
    this.#send(adbCommand.okay, localId, remoteId);
    try {
      await program(stream.duplex);
    } catch {
      // The program's peer disconnected, or the simulation itself failed: either ends only this stream.
      stream.duplex.destroy();
    }
  }

  #handleWrite(message: AdbMessage, stream: AdbStream | undefined): void {
    if (!stream) return this.#send(adbCommand.clse, 0, message.arg0);
    if (!stream.handleData(message.payload)) throw new ProtocolError('The peer does not wait for OKAY.');
  }

  #send(command: number, arg0: number, arg1: number, payload: Buffer = noPayload): void {
    if (this.#socket.destroyed || this.#device.faults.hang) return;
    const withChecksum = this.#version < versionWithoutChecksum || !this.#online;
    this.#socket.write(encodeHeader({ command, arg0, arg1, payload }, withChecksum));
    if (payload.length > 0) this.#socket.write(payload);
    this.#sentBytes += payload.length;
    const limit = this.#device.faults.dropAfterBytes;
    if (limit !== undefined && this.#sentBytes >= limit) this.drop();
  }

  #closeStreams(): void {
    this.#online = false;
    for (const stream of [...this.#streams.values()]) stream.duplex.destroy();
    this.#streams.clear();
  }
}

/** Maximum number of unread bytes; more mean that the peer does not wait for OKAY. */
const maxUnreadBytes = 1024 * 1024 + 64 * 1024;

interface AdbStreamLink {
  readonly localId: number;
  readonly remoteId: number;
  readonly maxPayloadBytes: number;
  send(command: number, localId: number, remoteId: number, payload?: Buffer): void;
  onClosed(): void;
}

/** ADB stream: the device's program sees a Duplex, which the connection feeds with messages. */
interface AdbStream {
  readonly duplex: Duplex;
  handleOkay(): void;
  /** Handles a payload. Returns false if the peer ignores flow control. */
  handleData(payload: Buffer): boolean;
  handleClose(): void;
}

type WriteDone = (error?: Error | null) => void;

/**
 * Creates a stream with at most one WRTE in flight in each direction: the next one is sent after the peer's OKAY, and
 * our OKAY is sent only when the program has capacity. A slow reader thus slows its peer, and memory stays bounded.
 */
export function createAdbStream(link: AdbStreamLink): AdbStream {
  let unsent: Buffer = Buffer.alloc(0);
  let writeDone: WriteDone | undefined;
  let okayOwed = false;
  let closed = false;

  const send = (command: number, payload?: Buffer) =>
    link.send(command, link.localId, link.remoteId, payload);
  const sendNextPiece = () => {
    const piece = unsent.subarray(0, link.maxPayloadBytes);
    unsent = unsent.subarray(piece.length);
    send(adbCommand.wrte, piece);
  };
  const startWrite = (bytes: Buffer, done: WriteDone) => {
    if (closed) return done(new Error('The ADB stream is closed.'));
    if (bytes.length === 0) return done();
    unsent = bytes;
    writeDone = done;
    sendNextPiece();
  };
  const finishWrite = (error?: Error) => {
    const done = writeDone;
    writeDone = undefined;
    done?.(error ?? null);
  };
  const close = (notifiesPeer: boolean) => {
    if (closed) return;
    closed = true;
    if (notifiesPeer) send(adbCommand.clse);
    link.onClosed();
    finishWrite(new Error('The ADB stream is closed.'));
  };

  const duplex = new Duplex({
    allowHalfOpen: true,
    read() {
      if (!okayOwed || closed) return;
      okayOwed = false;
      send(adbCommand.okay);
    },
    write(chunk: Buffer, _encoding, done) {
      startWrite(chunk, done);
    },
    // Sends one WRTE for a burst: adb forwards each WRTE separately, and Nagle's algorithm then delays the second
    // one.
    writev(chunks: readonly { readonly chunk: Buffer }[], done) {
      startWrite(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
    },
    // ADB has no half-close: the end of our output ends the stream.
    final(done) {
      close(true);
      done();
      duplex.destroy();
    },
    destroy(error, done) {
      close(true);
      done(error);
    },
  });
  // An error of a stream concerns only its program, which learns of it from 'close'.
  duplex.on('error', () => {});

  return {
    duplex,
    handleOkay() {
      if (!writeDone) return;
      if (unsent.length > 0) sendNextPiece();
      else finishWrite();
    },
    handleData(payload) {
      if (duplex.readableLength > maxUnreadBytes) return false;
      if (duplex.push(payload)) send(adbCommand.okay);
      else okayOwed = true;
      return true;
    },
    handleClose() {
      // adbd replies to each CLSE with a CLSE, and its peer keeps the stream until then.
      close(true);
      duplex.push(null);
      if (duplex.readableLength === 0) duplex.destroy();
      else duplex.once('end', () => duplex.destroy());
    },
  };
}
