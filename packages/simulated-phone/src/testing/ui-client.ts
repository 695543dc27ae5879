import type { Adb, AdbSocket } from '@yume-chan/adb';
import { onTestFinished } from 'vitest';

export interface UiAnswer {
  readonly status: number;
  readonly sessionId: unknown;
  readonly value: unknown;
}

/** Reads one HTTP response with a Content-Length; the connection stays open. */
async function readResponse(read: () => Promise<Uint8Array>): Promise<UiAnswer> {
  let bytes = Buffer.alloc(0);
  for (;;) {
    bytes = Buffer.concat([bytes, await read()]);
    const headEnd = bytes.indexOf('\r\n\r\n');
    if (headEnd < 0) continue;
    const head = bytes.toString('latin1', 0, headEnd);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN);
    if (bytes.length < headEnd + 4 + length) continue;
    const body: unknown = JSON.parse(bytes.toString('utf8', headEnd + 4));
    if (typeof body !== 'object' || body === null) throw new Error('The answer is no object.');
    const fields = new Map(Object.entries(body));
    return {
      status: Number(head.split(' ')[1]),
      sessionId: fields.get('sessionId'),
      value: fields.get('value'),
    };
  }
}

/** HTTP client of the UiAutomator2 server on one persistent ADB stream, for tests. */
export class UiClient {
  readonly #socket: AdbSocket;
  readonly #read: () => Promise<Uint8Array>;
  #prefix = '';

  private constructor(socket: AdbSocket) {
    this.#socket = socket;
    const reader = socket.readable.getReader();
    this.#read = async () => {
      const next = await reader.read();
      if (next.done || next.value === undefined) throw new Error('The phone closed the connection.');
      return next.value;
    };
  }

  static async connect(adb: Adb): Promise<UiClient> {
    const socket = await adb.createSocket('tcp:6790');
    onTestFinished(async () => {
      await socket.close();
    });
    return new UiClient(socket);
  }

  async send(method: string, path: string, body?: unknown): Promise<UiAnswer> {
    const text = body === undefined ? '' : JSON.stringify(body);
    const head = `${method} ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n`;
    const writer = this.#socket.writable.getWriter();
    await writer.write(Buffer.from(head + text));
    writer.releaseLock();
    return readResponse(this.#read);
  }

  /** Creates the session that `get` and `post` use. */
  async startSession(): Promise<void> {
    const { sessionId } = await this.send('POST', '/session', {
      capabilities: { firstMatch: [{}], alwaysMatch: {} },
    });
    this.#prefix = `/session/${String(sessionId)}`;
  }

  get(path: string): Promise<UiAnswer> {
    return this.send('GET', `${this.#prefix}/${path}`);
  }

  post(path: string, body: unknown = {}): Promise<UiAnswer> {
    return this.send('POST', `${this.#prefix}/${path}`, body);
  }

  endSession(): Promise<UiAnswer> {
    return this.send('DELETE', this.#prefix);
  }

  /** Taps a point of the screen. Returns the ID of the element that then has the focus. */
  async focus(at: { readonly x: number; readonly y: number }): Promise<string> {
    await this.post('appium/gestures/click', { offset: at });
    const { value } = await this.get('element/active');
    const id = typeof value === 'object' && value !== null && 'ELEMENT' in value ? value.ELEMENT : undefined;
    if (typeof id !== 'string') throw new Error(`Nothing has the focus: ${JSON.stringify(value)}`);
    return id;
  }
}
