import { Duplex } from 'node:stream';
import { adbCommand } from './adb-message.ts';

/** More unread bytes than this mean that the peer does not wait for OKAY. */
const maxUnreadBytes = 1024 * 1024 + 64 * 1024;

export interface AdbStreamLink {
  readonly localId: number;
  readonly remoteId: number;
  readonly maxPayloadBytes: number;
  send(command: number, localId: number, remoteId: number, payload?: Buffer): void;
  onClosed(): void;
}

/** One ADB stream: the device's program sees a Duplex, the connection feeds it with messages. */
export interface AdbStream {
  readonly duplex: Duplex;
  handleOkay(): void;
  /** False when the peer ignores flow control. */
  handleData(payload: Buffer): boolean;
  handleClose(): void;
}

type WriteDone = (error?: Error | null) => void;

/**
 * At most one WRTE is on its way in each direction: the next one is sent after the peer's OKAY, and our
 * OKAY goes out only when the program has room, so a slow reader slows its peer and memory stays bounded.
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
  const close = (tellPeer: boolean) => {
    if (closed) return;
    closed = true;
    if (tellPeer) send(adbCommand.clse);
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
    // One WRTE for a burst: adb hands each to its client alone, and Nagle's algorithm then holds the second back.
    writev(chunks: readonly { readonly chunk: Buffer }[], done) {
      startWrite(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
    },
    // ADB knows no half close: the end of our output ends the stream.
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
  // A stream that breaks has no one else to tell; its program learns it from 'close'.
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
      // adbd answers each CLSE by one, and its peer keeps the stream until then.
      close(true);
      duplex.push(null);
      if (duplex.readableLength === 0) duplex.destroy();
      else duplex.once('end', () => duplex.destroy());
    },
  };
}
