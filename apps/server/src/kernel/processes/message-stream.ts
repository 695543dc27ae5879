import type { Duplex } from 'node:stream';
import { deserialize, serialize } from 'node:v8';
import { Socket } from 'node:net';

const lengthBytes = 4;

/** Exchanges messages of two processes on a socket. A message is a length, and a value serialized by V8. */
export class MessageStream {
  readonly #socket: Duplex;
  readonly #maxBytes: number;
  readonly #onMessage: (message: unknown) => void;
  #chunks: Buffer[] = [];
  #held = 0;
  #wanted = lengthBytes;
  #hasFailed = false;

  /** Closes the stream at an invalid message, or one longer than `maxBytes`. */
  constructor(socket: Duplex, maxBytes: number, onMessage: (message: unknown) => void) {
    this.#socket = socket;
    this.#maxBytes = maxBytes;
    this.#onMessage = onMessage;
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
  }

  /** Whether an invalid or too long message arrived. */
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
/** Maximum size of a message: a compile process gets all files of a project in one. */
const maxMessageBytes = 512 * 1024 * 1024;

/** Opens the channel in the confined process. `onGone` is called when the server has ended. */
export function openServerChannel(onMessage: (message: unknown) => void, onGone: () => void): MessageStream {
  const socket = new Socket({ fd: messagesDescriptor, readable: true, writable: true });
  socket.on('error', () => undefined).on('close', onGone);
  return new MessageStream(socket, maxMessageBytes, onMessage);
}
