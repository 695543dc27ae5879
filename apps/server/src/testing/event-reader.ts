import { get, type IncomingMessage } from 'node:http';
import { once } from 'node:events';

export interface ReceivedEvent {
  event: string;
  id: string;
  data: unknown;
}

interface Waiter {
  isMet: (event: ReceivedEvent) => boolean;
  resolve: (event: ReceivedEvent) => void;
}

/** Reads a stream of server-sent events. */
export class EventReader {
  readonly received: ReceivedEvent[] = [];
  readonly response: IncomingMessage;
  readonly ended: Promise<void>;
  readonly #waiters = new Set<Waiter>();
  #rest = '';

  private constructor(response: IncomingMessage) {
    this.response = response;
    this.ended = new Promise((resolve) => {
      response.on('close', () => resolve());
    });
    // A stream that the server cuts off ends with an error, which is no news here.
    response.on('error', () => undefined);
  }

  /** Resolves when the stream has begun, with the status of the reply. */
  static async open(url: string, token: string, isPaused = false): Promise<EventReader> {
    const request = get(url, { headers: { authorization: `Bearer ${token}` }, agent: false });
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request.on('response', resolve);
      request.on('error', reject);
    });
    request.on('error', () => undefined);
    const reader = new EventReader(response);
    if (isPaused) return reader;
    response.on('data', (chunk: Buffer) => reader.#take(chunk.toString('utf8')));
    if (response.statusCode === 200) await once(response, 'data');
    return reader;
  }

  waitFor(isMet: (event: ReceivedEvent) => boolean): Promise<ReceivedEvent> {
    return new Promise((resolve) => {
      this.#waiters.add({ isMet, resolve });
    });
  }

  close(): void {
    this.response.destroy();
  }

  #take(text: string): void {
    const blocks = `${this.#rest}${text}`.split('\n\n');
    this.#rest = blocks.pop() ?? '';
    for (const block of blocks) this.#takeBlock(block);
  }

  #takeBlock(block: string): void {
    const fields = new Map(
      block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
    );
    const event = fields.get('event');
    if (event === undefined) return;
    const data: unknown = JSON.parse(fields.get('data') ?? 'null');
    const received = { event, id: fields.get('id') ?? '', data };
    this.received.push(received);
    for (const waiter of this.#waiters) {
      if (!waiter.isMet(received)) continue;
      this.#waiters.delete(waiter);
      waiter.resolve(received);
    }
  }
}
