import { connect, type Socket } from 'node:net';
import {
  adbCommand,
  type AdbMessage,
  encodeHeader,
  maxPayloadBytes,
  MessageReader,
} from '../adb/adb-message.ts';

const noPayload = Buffer.alloc(0);

/** Sends and receives single ADB messages, including invalid ones, for tests. */
export class RawClient {
  readonly socket: Socket;
  readonly #messages: AdbMessage[] = [];
  readonly #reader = new MessageReader({
    maxPayloadBytes: () => maxPayloadBytes,
    checksumRequired: () => false,
  });
  #wake: () => void = () => {};

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1');
    this.socket.on('error', () => {});
    this.socket.on('close', () => this.#wake());
    this.socket.on('data', (chunk: Buffer) => {
      this.#messages.push(...this.#reader.push(chunk));
      this.#wake();
    });
  }

  send(command: number, arg0: number, arg1: number, payload: Buffer = noPayload): void {
    this.socket.write(encodeHeader({ command, arg0, arg1, payload }, true));
    if (payload.length > 0) this.socket.write(payload);
  }

  /** Returns the next message; rejects if the device closes the connection first. */
  async next(): Promise<AdbMessage> {
    for (;;) {
      const message = this.#messages.shift();
      if (message) return message;
      if (this.socket.destroyed) throw new Error('The device closed the connection.');
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** Number of received messages that were not read yet. */
  get waitingCount(): number {
    return this.#messages.length;
  }

  /** Sends CNXN and returns the reply. */
  async connect(payloadLimit = maxPayloadBytes): Promise<AdbMessage> {
    this.send(adbCommand.cnxn, 0x01000001, payloadLimit, Buffer.from('host::features=shell_v2,cmd'));
    return this.next();
  }

  /** Opens a stream as number 1. Returns the device's number for it, or 0 if it was refused. */
  async open(service: string, localId = 1): Promise<number> {
    this.send(adbCommand.open, localId, 0, Buffer.from(`${service}\0`));
    const answer = await this.next();
    return answer.command === adbCommand.okay ? answer.arg0 : 0;
  }

  /** Resolves with true when the device has closed the connection. */
  async closed(): Promise<boolean> {
    if (!this.socket.closed) await new Promise<void>((resolve) => this.socket.once('close', () => resolve()));
    return true;
  }
}
