import type { Duplex } from 'node:stream';
import { deserialize, serialize } from 'node:v8';
import { Socket } from 'node:net';

const lengthBytes = 4;

/** Messages of two processes on a socket: each a length, and a value in V8's own form. */
export class MessageStream {
  readonly #socket: Duplex;
  readonly #maxBytes: number;
  readonly #onMessage: (message: unknown) => void;
  #chunks: Buffer[] = [];
  #held = 0;
  #wanted = lengthBytes;
  #hasFailed = false;

  /** Ends the stream at data that is no message or is longer than `maxBytes`. */
  constructor(socket: Duplex, maxBytes: number, onMessage: (message: unknown) => void) {
    this.#socket = socket;
    this.#maxBytes = maxBytes;
    this.#onMessage = onMessage;
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
  }

  /** Whether data came that was no message or was too long. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** Sends a message. Calls `onSent` when it is on its way, or can't be sent. */
  send(message: unknown, onSent?: () => void): void {
    const body = serialize(message);
    const head = Buffer.alloc(lengthBytes);
    head.writeUInt32BE(body.length);
    this.#socket.cork();
    this.#socket.write(head);
    this.#socket.write(body, () => onSent?.());
    this.#socket.uncork();
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#held += chunk.length;
    while (this.#held >= this.#wanted && !this.#hasFailed) this.#takeOne();
  }

  #takeOne(): void {
    const bytes = Buffer.concat(this.#chunks);
    const end = lengthBytes + bytes.readUInt32BE();
    if (end > this.#maxBytes) {
      this.#fail();
      return;
    }
    const isWhole = bytes.length >= end;
    const rest = isWhole ? bytes.subarray(end) : bytes;
    [this.#chunks, this.#held] = [[rest], rest.length];
    if (!isWhole) this.#wanted = end;
    else {
      this.#wanted = lengthBytes;
      this.#deliver(bytes.subarray(lengthBytes, end));
    }
  }

  #deliver(body: Buffer): void {
    let message: unknown;
    try {
      message = deserialize(body);
    } catch {
      this.#fail();
      return;
    }
    this.#onMessage(message);
  }

  #fail(): void {
    this.#hasFailed = true;
    this.#socket.destroy();
  }
}

/** File descriptor on which a confined process exchanges messages with the server. */
export const messagesDescriptor = 3;
/** A project's files go to a compile process in one message. */
const maxMessageBytes = 512 * 1024 * 1024;

/** The confined process's end. `onGone`: the server is. */
export function openServerChannel(onMessage: (message: unknown) => void, onGone: () => void): MessageStream {
  const socket = new Socket({ fd: messagesDescriptor, readable: true, writable: true });
  socket.on('error', () => undefined).on('close', onGone);
  return new MessageStream(socket, maxMessageBytes, onMessage);
}
