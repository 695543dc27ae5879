import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';

export interface Received {
  headers: IncomingHttpHeaders;
  /** Signature headers of webhooks, as verifiers expect them. */
  signed: Record<string, string>;
  text: string;
  body: { type: string; timestamp: string; data: Record<string, unknown> };
}

type Habit = (response: ServerResponse, received: Received) => void;

export const answer =
  (status: number, headers: Record<string, string> = {}): Habit =>
  (response) =>
    void response.writeHead(status, headers).end('received');

/** Simulates the service that receives webhooks. */
export class Receiver {
  readonly received: Received[] = [];
  habit: Habit = answer(200);
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Starts a receiver. `host` is an address of this machine that the server under test may be allowed to reach. */
  static async start(host = '127.0.0.2'): Promise<Receiver> {
    const server = createServer();
    const receiver = new Receiver(server);
    server.on('request', (request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        const received = readReceived(request.headers, Buffer.concat(pieces).toString());
        receiver.received.push(received);
        receiver.habit(response, received);
      });
    });
    await new Promise<void>((resolve) => void server.listen(0, host, resolve));
    return receiver;
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the receiver is closed');
    return `http://${address.address}:${address.port}/hook`;
  }

  /** Returns the messages about events whose data has this value. */
  about(key: string, value: unknown): Received[] {
    return this.received.filter(({ body }) => body.data[key] === value);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function readReceived(headers: IncomingHttpHeaders, text: string): Received {
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  const signed = Object.fromEntries(names.map((name) => [name, String(headers[name])]));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a test that gets something else fails
  return { headers, signed, text, body: JSON.parse(text) as Received['body'] };
}
