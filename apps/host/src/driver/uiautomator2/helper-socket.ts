import type { AdbSocket } from '@yume-chan/adb';
import { closeQuietly } from '../shell/phone-shell.ts';

const headEnd = Buffer.from('\r\n\r\n');
const maxHeadBytes = 64 * 1024;

export interface HelperAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/**
 * A socket to the helper, for one HTTP exchange after the other. By hand, because node:http over a stream of our own costs
 * more than all the rest of a call (measured: 0.81 ms against 0.37 ms).
 */
export class HelperSocket {
  readonly #socket: AdbSocket;
  readonly #onClose: () => void;
  readonly #reader: { read(): Promise<{ value?: Uint8Array | undefined }>; cancel(): Promise<void> };
  readonly #writer: { write(chunk: Uint8Array): Promise<void>; abort(): Promise<void> };
  /** Always one under way, so that the end of a socket that rests is seen. */
  #next: Promise<Uint8Array | undefined>;
  #isOpen = true;
  #isResting = true;

  /** `onClose` is called when no other exchange may begin. */
  constructor(socket: AdbSocket, onClose: () => void) {
    this.#socket = socket;
    this.#onClose = onClose;
    this.#reader = socket.readable.getReader();
    this.#writer = socket.writable.getWriter();
    this.#next = this.#read();
  }

  /** Rejects when the socket ends before the answer does, and when what comes is no answer or one of more bytes. */
  async exchange(request: Uint8Array, maxBytes: number): Promise<HelperAnswer> {
    this.#isResting = false;
    // What it breaks with, reading tells too.
    this.#writer.write(request).catch(() => {});
    const { head, rest } = await this.#readHead();
    const { status, sizeBytes, staysOpen } = parseHead(head, maxBytes);
    const body = await this.#readBody(rest, sizeBytes);
    this.#isResting = staysOpen && body.length === sizeBytes;
    if (!this.#isResting) this.close();
    return { status, body: body.subarray(0, sizeBytes) };
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#onClose();
    this.#reader.cancel().catch(() => {});
    this.#writer.abort().catch(() => {});
    closeQuietly(this.#socket);
  }

  async #readHead(): Promise<{ head: string; rest: Buffer }> {
    let bytes: Buffer = Buffer.alloc(0);
    for (;;) {
      bytes = bytes.length === 0 ? await this.#take() : Buffer.concat([bytes, await this.#take()]);
      const end = bytes.indexOf(headEnd);
      if (end !== -1)
        return { head: bytes.toString('latin1', 0, end), rest: bytes.subarray(end + headEnd.length) };
      if (bytes.length > maxHeadBytes) throw new Error('The UI helper does not answer in HTTP');
    }
  }

  async #readBody(first: Buffer, sizeBytes: number): Promise<Buffer> {
    const parts = [first];
    for (let missing = sizeBytes - first.length; missing > 0; missing -= parts.at(-1)?.length ?? 0)
      parts.push(await this.#take());
    return parts.length === 1 ? first : Buffer.concat(parts);
  }

  async #take(): Promise<Buffer> {
    const bytes = await this.#next;
    if (bytes === undefined) throw new Error('The UI helper closed the connection');
    this.#next = this.#read();
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Undefined at the end, however it came. */
  async #read(): Promise<Uint8Array | undefined> {
    const { value } = await this.#reader.read().catch(() => ({ value: undefined }));
    // Its end, or what nobody has asked for.
    if (value === undefined || this.#isResting) this.close();
    return value;
  }
}

interface Head {
  readonly status: number;
  readonly sizeBytes: number;
  readonly staysOpen: boolean;
}

/** The helper says with each answer how long it is (NettyHttpResponse.java). */
function parseHead(head: string, maxBytes: number): Head {
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1];
  const size = /\r\ncontent-length: *(\d+) *(?:\r\n|$)/i.exec(head)?.[1];
  if (status === undefined || size === undefined)
    throw new Error('The UI helper answered in an unknown form of HTTP');
  const sizeBytes = Number(size);
  if (sizeBytes > maxBytes) throw new Error(`The UI helper answered with more than ${maxBytes} bytes`);
  return {
    status: Number(status),
    sizeBytes,
    staysOpen: !/\r\nconnection: *close *(?:\r\n|$)/i.test(head),
  };
}
