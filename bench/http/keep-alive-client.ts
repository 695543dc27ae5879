import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface HttpAnswer {
  status: number;
  /** Returns the entire reply, head and body; concatenated only for callers that need it. */
  text(): string;
}

const headEnd = Buffer.from('\r\n\r\n');

/** Persistent HTTP/1.1 connection with as little work as possible in the client, so that the server is measured. */
export class KeepAliveClient {
  readonly #socket: Socket;
  #received: Buffer[] = [];
  #missingBytes = Number.NaN;
  #status = 0;
  #answer: PromiseWithResolvers<HttpAnswer> | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (bytes) => this.#read(bytes));
    socket.on('error', (error) => this.#answer?.reject(error));
    socket.on('close', () => this.#answer?.reject(new Error('the server has closed the connection')));
  }

  static async open(url: string): Promise<KeepAliveClient> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    return new KeepAliveClient(socket);
  }

  /** Sends one request at a time. `bytes` is the entire request, head and body. */
  request(bytes: Buffer): Promise<HttpAnswer> {
    this.#answer = Promise.withResolvers();
    this.#received = [];
    this.#missingBytes = Number.NaN;
    this.#socket.write(bytes);
    return this.#answer.promise;
  }

  close(): void {
    this.#answer = undefined;
    this.#socket.destroy();
  }

  #read(bytes: Buffer): void {
    this.#received.push(bytes);
    if (Number.isNaN(this.#missingBytes)) this.#readHead();
    else this.#missingBytes -= bytes.length;
    if (this.#missingBytes === 0) this.#finish();
  }

  #readHead(): void {
    const start =
      this.#received.length === 1 ? (this.#received[0] ?? headEnd) : Buffer.concat(this.#received);
    const end = start.indexOf(headEnd);
    if (end === -1) return;
    const head = start.toString('latin1', 0, end);
    const length = /^content-length: *(\d+)/im.exec(head)?.[1];
    if (length === undefined) throw new Error('the server does not say how long its answer is');
    this.#status = Number(head.slice(9, 12));
    this.#missingBytes = end + headEnd.length + Number(length) - start.length;
  }

  #finish(): void {
    const received = this.#received;
    this.#answer?.resolve({ status: this.#status, text: () => Buffer.concat(received).toString('utf8') });
  }
}

/** Body with its content type. */
export interface RequestBody {
  type: string;
  bytes: Buffer;
}

export const jsonBody = (value: unknown): RequestBody => ({
  type: 'application/json',
  bytes: Buffer.from(JSON.stringify(value)),
});

/** Returns the bytes of a request as a typical client sends it. */
export function requestBytes(
  method: string,
  { url, token }: { url: string; token: string },
  body?: RequestBody,
): Buffer {
  const { host, pathname, search } = new URL(url);
  const ofBody =
    body === undefined ? [] : [`Content-Type: ${body.type}`, `Content-Length: ${body.bytes.length}`];
  const head = [
    `${method} ${pathname}${search} HTTP/1.1`,
    `Host: ${host}`,
    `Authorization: Bearer ${token}`,
    ...ofBody,
    'Connection: keep-alive',
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body?.bytes ?? Buffer.alloc(0)]);
}
