import { AdbCommand, type AdbDaemonConnection, type AdbPacketData, type AdbPacketInit } from '@yume-chan/adb';
import { Consumable, PushReadableStream, tryClose } from '@yume-chan/stream-extra';
import type { Socket } from 'node:net';

import { writeTo } from './tcp-socket.ts';

const headerBytes = 24;
// Largest payload in bytes that the host announces in CNXN. A phone that sends more is broken or hostile.
const maxPayloadBytes = 1024 * 1024;
const maxJoinedBytes = 16 * 1024;

/**
 * Returns the ADB packet streams of a TCP socket, in the form that Tango expects. `onCommand` gets each command word
 * that the phone sends.
 */
export function toPacketStreams(socket: Socket, onCommand: (command: number) => void): AdbDaemonConnection {
  const streams = new OpenStreams();
  let confirm: (packet: AdbPacketData) => Promise<void> = async () => {};
  return {
    readable: new PushReadableStream<AdbPacketData>((controller) => {
      const split = createPacketSplitter();
      const take = async (data: Buffer): Promise<void> => {
        for (const packet of split(data)) {
          onCommand(packet.command);
          if (streams.takes(packet)) await controller.enqueue(packet);
        }
      };
      confirm = async (packet) => void (await controller.enqueue(packet));
      socket.on('data', (data: Buffer) => {
        socket.pause();
        take(data).then(
          () => socket.resume(),
          (error: unknown) => socket.destroy(error instanceof Error ? error : undefined),
        );
      });
      socket.once('close', () => tryClose(controller));
    }),
    writable: new Consumable.WritableStream<AdbPacketInit>({
      // The end of the socket reports a failed write. Rejecting here as well would surface as an unhandled rejection,
      // because the dispatcher sends some of its answers without awaiting them.
      write: (packet) => {
        const missing = streams.noteSent(packet);
        if (missing !== undefined) confirm(missing).catch(() => {});
        return writeTo(socket, ...serializePacket(packet)).catch(() => {});
      },
    }),
  };
}

/**
 * Splits a byte stream into whole packets. Throws on bytes that can't be ADB, because the stream is unreadable from
 * there on.
 */
export function createPacketSplitter(): (data: Buffer) => AdbPacketData[] {
  let pieces: Buffer[] = [];
  let gathered = 0;
  let needed = headerBytes;
  return (data) => {
    pieces.push(data);
    gathered += data.length;
    const packets: AdbPacketData[] = [];
    while (gathered >= needed) {
      const bytes = pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
      const totalBytes = headerBytes + payloadLength(bytes);
      const isWhole = bytes.length >= totalBytes;
      if (isWhole) packets.push(readPacket(bytes, totalBytes));
      const rest = isWhole ? bytes.subarray(totalBytes) : bytes;
      pieces = [rest];
      gathered = rest.length;
      needed = isWhole ? headerBytes : totalBytes;
    }
    return packets;
  };
}

function payloadLength(bytes: Buffer): number {
  const command = bytes.readUInt32LE(0);
  if (bytes.readUInt32LE(20) !== (command ^ 0xff_ff_ff_ff) >>> 0)
    throw new Error('The other side does not speak ADB');
  const length = bytes.readUInt32LE(12);
  if (length > maxPayloadBytes) throw new Error(`An ADB packet of ${length} bytes is over the limit`);
  return length;
}

function readPacket(bytes: Buffer, totalBytes: number): AdbPacketData {
  return {
    command: bytes.readUInt32LE(0),
    arg0: bytes.readUInt32LE(4),
    arg1: bytes.readUInt32LE(8),
    payload: bytes.subarray(headerBytes, totalBytes),
  };
}

function serializePacket(packet: AdbPacketInit): Uint8Array[] {
  const header = Buffer.allocUnsafe(headerBytes);
  header.writeUInt32LE(packet.command, 0);
  header.writeUInt32LE(packet.arg0 >>> 0, 4);
  header.writeUInt32LE(packet.arg1 >>> 0, 8);
  header.writeUInt32LE(packet.payload.length, 12);
  header.writeUInt32LE(packet.checksum >>> 0, 16);
  header.writeInt32LE(packet.magic | 0, 20);
  if (packet.payload.length === 0) return [header];
  // One short write costs less than two that the system gathers.
  return packet.payload.length <= maxJoinedBytes
    ? [Buffer.concat([header, packet.payload])]
    : [header, packet.payload];
}

/** Maximum number of closed streams that a phone may leave unconfirmed. The client library would keep all of them. */
const maxUnconfirmed = 64;
/**
 * Maximum bytes on a stream that the host has not acknowledged. A conforming phone sends one packet and waits for its
 * acknowledgement.
 */
const maxUntakenBytes = 4 * 1024 * 1024;

type Packet = Pick<AdbPacketData, 'command' | 'arg0' | 'arg1'> & { readonly payload: ArrayLike<unknown> };

interface OpenStream {
  untakenBytes: number;
}

/** Streams of one ADB connection, by the host's stream IDs. */
class OpenStreams {
  readonly #open = new Map<number, OpenStream>();
  /** Streams that the host has closed, with the phone's stream IDs, the oldest first. */
  readonly #unconfirmed = new Map<number, number>();

  /**
   * Notes a packet that the host sends; call it for each. Returns a confirmation that the phone owes when too many are
   * missing.
   */
  noteSent({ command, arg0: id, arg1: remoteId }: Packet): AdbPacketData | undefined {
    const stream = this.#open.get(id);
    if (command === AdbCommand.Open) this.#open.set(id, { untakenBytes: 0 });
    if (command === AdbCommand.Okay && stream !== undefined) stream.untakenBytes = 0;
    if (command === AdbCommand.Close && stream !== undefined) this.#unconfirmed.set(id, remoteId);
    const [oldest] = this.#unconfirmed;
    if (oldest === undefined || this.#unconfirmed.size <= maxUnconfirmed) return undefined;
    this.#forget(oldest[0]);
    return { command: AdbCommand.Close, arg0: oldest[1], arg1: oldest[0], payload: new Uint8Array() };
  }

  /**
   * Whether the host accepts a packet of the phone: data needs an open stream. Throws when the phone does not wait for
   * acknowledgements.
   */
  takes({ command, arg1: id, payload }: Packet): boolean {
    if (command === AdbCommand.Close) this.#forget(id);
    if (command !== AdbCommand.Write) return true;
    const stream = this.#open.get(id);
    if (stream === undefined) return false;
    stream.untakenBytes += payload.length;
    if (stream.untakenBytes > maxUntakenBytes)
      throw new Error('The phone sends more than the host has taken of it');
    return true;
  }

  #forget(id: number): void {
    this.#open.delete(id);
    this.#unconfirmed.delete(id);
  }
}
