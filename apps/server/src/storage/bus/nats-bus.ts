import { setTimeout as pause } from 'node:timers/promises';
import {
  connect,
  createInbox,
  type Msg,
  type NatsConnection,
  type NodeConnectionOptions,
  type Subscription,
} from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { randomBytes } from 'node:crypto';

import { backoffMs } from '@phalanx/timing/backoff';
import { type Bus, cutOff, notConnected } from './bus.ts';

/** Size of a piece; NATS allows messages of a mebibyte by default. */
const pieceBytes = 512 * 1024;
/** Maximum size of a message. Pieces of a longer one are dropped, because no server sends them. */
const maxMessageBytes = 128 * 1024 * 1024;
const senderBytes = 8;
const more = 0;
const last = 1;
const refusal = 2;

/** ID of this process as a sender, because the pieces of several senders may be interleaved. */
const sender = randomBytes(senderBytes);

interface NatsBusOptions {
  /** Addresses of the servers of one NATS, with user and password if it requires them. */
  urls: readonly URL[];
  /** Name of this server in the monitoring of NATS. */
  name: string;
  /** Prefix of all subjects, because other services may use the same NATS. */
  prefix: string;
  log: Logger;
}

interface Listener {
  readonly subject: string;
  readonly onMessage: (message: Msg) => void;
  readonly pieces: Pieces;
  subscription: Subscription | undefined;
}

const askTimeoutMs = 20_000;
/** Pause of the library before it reconnects; it adds a jitter of its own. */
const reconnectMs = 500;
/** Pauses before the first connection is tried again. */
const backoff = { firstMs: 500, maxMs: 2000, jitter: 0.2 };
/** The library would notice a server that stands still after minutes. */
const pings = { pingInterval: 2000, maxPingOut: 2 };
/** Code of NATS for a subject without listeners. */
const nobodyListens = 503;

function optionsOf({ urls, name }: NatsBusOptions): NodeConnectionOptions {
  const [{ username, password } = new URL('nats://127.0.0.1')] = urls;
  const credentials = { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  return {
    servers: urls.map((url) => url.host),
    ...(username !== '' && credentials),
    ...(urls.some(({ protocol }) => protocol === 'tls:') && { tls: {} }),
    ...pings,
    name: `phalanx ${name}`.trimEnd(),
    noEcho: true,
    reconnectTimeWait: reconnectMs,
    maxReconnectAttempts: -1,
    ignoreAuthErrorAbort: true,
  };
}

/** Bus over NATS. It connects and reconnects by itself; messages that are published meanwhile are lost. */
export class NatsBus implements Bus {
  readonly #options: NatsBusOptions;
  readonly #listeners = new Set<Listener>();
  readonly #onGap: (() => void)[] = [];
  readonly #connecting: Promise<void>;
  #connection: NatsConnection | undefined;
  #isReached = false;
  #isClosed = false;

  constructor(options: NatsBusOptions) {
    this.#options = options;
    this.#connecting = this.#connect();
  }

  get isConnected(): boolean {
    return this.#isReached;
  }

  publish(subject: string, text: string): void {
    this.#send(this.#nameOf(subject), Buffer.from(text));
  }

  subscribe(subject: string, listener: (text: string) => void): () => void {
    const pieces = new Pieces();
    return this.#listen(subject, pieces, ({ data }) => {
      const arrived = pieces.take(Buffer.from(data));
      if (arrived !== undefined) listener(arrived.bytes.toString());
    });
  }

  answer(subject: string, work: (question: string) => Promise<Buffer>): () => void {
    const pieces = new Pieces();
    return this.#listen(subject, pieces, ({ data, reply }) => {
      const arrived = pieces.take(Buffer.from(data));
      if (arrived !== undefined && reply !== undefined)
        void this.#answer(reply, () => work(arrived.bytes.toString()));
    });
  }

  async ask(subject: string, question: string): Promise<Buffer> {
    const connection = this.#connection;
    if (connection === undefined) throw new Error(cutOff);
    const { promise, resolve, reject } = Promise.withResolvers<Arrived>();
    const pieces = new Pieces();
    const inbox = createInbox();
    const subscription = connection.subscribe(inbox, {
      callback: (error, message) => {
        if (error !== null) return reject(error);
        if (message.headers?.code === nobodyListens) return reject(new Error(notConnected));
        const arrived = pieces.take(Buffer.from(message.data));
        if (arrived !== undefined) resolve(arrived);
      },
    });
    const timer = setTimeout(
      () => reject(new Error(`no answer within ${askTimeoutMs / 1000} s`)),
      askTimeoutMs,
    );
    try {
      this.#send(this.#nameOf(subject), Buffer.from(question), inbox);
      const { isRefusal, bytes } = await promise;
      if (isRefusal) throw new Error(bytes.toString());
      return bytes;
    } finally {
      clearTimeout(timer);
      subscription.unsubscribe();
    }
  }

  onGap(listener: () => void): void {
    this.#onGap.push(listener);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#connection?.close();
    await this.#connecting;
  }

  async #connect(): Promise<void> {
    const { log } = this.#options;
    const options = optionsOf(this.#options);
    for (let tries = 1; !this.#isClosed; tries += 1) {
      try {
        const connection = await connect(options);
        if (this.#isClosed) return await connection.close();
        this.#begin(connection);
        return;
      } catch (error) {
        if (tries === 1) log.error({ err: error }, 'cannot connect to NATS: check PHALANX_NATS_URL');
        await pause(backoffMs(backoff, tries));
      }
    }
  }

  #begin(connection: NatsConnection): void {
    this.#connection = connection;
    this.#isReached = true;
    for (const listener of this.#listeners) this.#subscribe(connection, listener);
    this.#options.log.info('connected to NATS');
    this.#notifyGap();
    void this.#watch(connection);
  }

  async #watch(connection: NatsConnection): Promise<void> {
    const { log } = this.#options;
    for await (const { type } of connection.status()) {
      if (type === 'disconnect') {
        this.#isReached = false;
        log.warn('connection to NATS lost');
      }
      if (type !== 'reconnect') continue;
      this.#isReached = true;
      log.info('reconnected to NATS');
      this.#notifyGap();
    }
  }

  #notifyGap(): void {
    for (const { pieces } of this.#listeners) pieces.clear();
    for (const tell of this.#onGap) tell();
  }

  #nameOf(subject: string): string {
    return `${this.#options.prefix}.${subject}`;
  }

  #listen(subject: string, pieces: Pieces, onMessage: (message: Msg) => void): () => void {
    const listener: Listener = { subject: this.#nameOf(subject), onMessage, pieces, subscription: undefined };
    this.#listeners.add(listener);
    if (this.#connection !== undefined) this.#subscribe(this.#connection, listener);
    return () => {
      this.#listeners.delete(listener);
      listener.subscription?.unsubscribe();
    };
  }

  #subscribe(connection: NatsConnection, listener: Listener): void {
    if (connection.isClosed()) return;
    listener.subscription = connection.subscribe(listener.subject, {
      callback: (error, message) => {
        if (error === null) this.#deliver(listener, message);
        else this.#options.log.error({ err: error }, 'a message from another server was lost');
      },
    });
  }

  /** Catches and logs errors, because a thrown one would end the library's reading of this connection. */
  #deliver({ subject, onMessage }: Listener, message: Msg): void {
    try {
      onMessage(message);
    } catch (error) {
      this.#options.log.error({ err: error, subject }, 'a message from another server could not be read');
    }
  }

  #send(subject: string, message: Buffer, reply?: string): void {
    const connection = this.#connection;
    if (connection === undefined || connection.isClosed()) return;
    for (const piece of piecesOf(message))
      connection.publish(subject, piece, reply === undefined ? {} : { reply });
  }

  async #answer(reply: string, work: () => Promise<Buffer>): Promise<void> {
    try {
      this.#send(reply, await work());
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'no reason given';
      this.#connection?.publish(reply, refusalOf(reason));
    }
  }
}

const pieceOf = (kind: number, bytes: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([kind]), sender, bytes]);

/** Yields the pieces of a message: one, or several if it is long. */
function* piecesOf(message: Buffer): Generator<Buffer> {
  let first = 0;
  for (; message.length - first > pieceBytes; first += pieceBytes)
    yield pieceOf(more, message.subarray(first, first + pieceBytes));
  yield pieceOf(last, message.subarray(first));
}

/** Returns the piece that is sent in place of an answer. */
const refusalOf = (reason: string): Buffer => pieceOf(refusal, Buffer.from(reason));

/** Message whose pieces have all arrived. */
interface Arrived {
  readonly isRefusal: boolean;
  readonly bytes: Buffer;
}

/** Joins the pieces of the messages of one subject. */
class Pieces {
  readonly #ofSenders = new Map<string, { pieces: Buffer[]; bytes: number }>();

  /** Adds a piece. Returns the message if it is complete; undefined: more pieces follow. */
  take(piece: Buffer): Arrived | undefined {
    const kind = piece[0];
    const name = piece.toString('latin1', 1, 1 + senderBytes);
    const body = piece.subarray(1 + senderBytes);
    const before = this.#ofSenders.get(name) ?? { pieces: [], bytes: 0 };
    this.#ofSenders.delete(name);
    if (kind === refusal) return { isRefusal: true, bytes: body };
    before.pieces.push(body);
    before.bytes += body.length;
    if (kind === last) return { isRefusal: false, bytes: Buffer.concat(before.pieces) };
    if (before.bytes <= maxMessageBytes) this.#ofSenders.set(name, before);
    return undefined;
  }

  /** Drops incomplete messages, whose other pieces will not arrive. */
  clear(): void {
    this.#ofSenders.clear();
  }
}
