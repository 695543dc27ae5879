import type { RawData, WebSocket } from 'ws';
import type { Limits } from '../../../kernel/limits/limits.ts';

/** Close code of RFC 6455 for an unknown message, or one too many. */
const policyViolation = 1008;
/** Time after which a peer that has not closed its side is cut off, in ms. */
const lingerMs = 1000;
/** Maximum number of waiting messages beyond the rate; a viewer waits for fewer answers. */
const maxUnread = 100;
/**
 * Minimum pause, in ms: hundreds of sockets that wait for the rate of one user would otherwise try again every
 * millisecond.
 */
const minPauseMs = 100;
const pingMs = 15_000;

let lastNumber = 0;

interface Options {
  readonly limits: Pick<Limits, 'spendViewerMessage'>;
  readonly userId: string;
}

interface Check<Message> {
  Check(value: unknown): value is Message;
}

/**
 * The WebSocket of a caller. All that comes on it, pings too, is spent from a rate of the socket and one of its user,
 * and is read in turns with the requests of others. Beyond a rate nothing is read, so that the peer has to wait, and
 * one that does not wait is cut off.
 */
export class ViewerSocket {
  readonly #socket: WebSocket;
  readonly #options: Options;
  readonly #key = String((lastNumber += 1));
  /** Messages that were parsed, and wait for the rate. */
  readonly #unread: (() => void)[] = [];
  #take: (data: RawData, isBinary: boolean) => void = () => this.end(policyViolation);
  #isReading = false;
  #isOver = false;

  constructor(socket: WebSocket, options: Options) {
    this.#socket = socket;
    this.#options = options;
    socket.on('message', (data, isBinary) => this.#read(() => this.#take(data, isBinary)));
    socket.on('ping', (data) => this.#read(() => socket.pong(data)));
    socket.on('error', () => socket.terminate());
    this.#keepAlive();
  }

  /** Number of sent bytes that the peer has not read. */
  get unsentBytes(): number {
    return this.#socket.bufferedAmount;
  }

  /** Passes valid messages to `take`. An invalid message ends the socket. */
  onMessage<Message>(validator: Check<Message>, take: (message: Message) => void): void {
    this.#take = (data, isBinary) => {
      const message = isBinary ? undefined : parse(data);
      if (validator.Check(message)) take(message);
      else this.refuse();
    };
  }

  onClose(tell: () => void): void {
    this.#socket.on('close', tell);
  }

  send(data: string | Buffer): void {
    this.#socket.send(data);
  }

  /** Ends the socket because of its messages. */
  refuse(): void {
    this.end(policyViolation);
  }

  /** Sends the close code. Further messages are ignored, and a peer that does not close is cut off. */
  end(code: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#unread.length = 0;
    this.#socket.close(code);
    const timer = setTimeout(() => this.#socket.terminate(), lingerMs).unref();
    this.#socket.on('close', () => clearTimeout(timer));
  }

  /** Cuts the peer off without a close frame. */
  terminate(): void {
    this.#isOver = true;
    this.#unread.length = 0;
    this.#socket.terminate();
  }

  #read(take: () => void): void {
    // An honest peer now sends nothing but the answer to the close frame.
    if (this.#isOver) return this.#socket.pause();
    this.#unread.push(take);
    if (this.#unread.length > maxUnread) return this.terminate();
    if (!this.#isReading) this.#readNext();
  }

  #readNext(): void {
    this.#isReading = true;
    const { limits, userId } = this.#options;
    for (let take = this.#unread[0]; take !== undefined; take = this.#unread[0]) {
      const waitMs = limits.spendViewerMessage(userId, this.#key);
      if (waitMs > 0) {
        this.#socket.pause();
        setTimeout(() => this.#isOver || this.#readNext(), Math.max(waitMs, minPauseMs)).unref();
        return;
      }
      this.#unread.shift();
      take();
    }
    this.#isReading = false;
    if (this.#socket.isPaused && !this.#isOver) this.#socket.resume();
  }

  /** Ends a socket whose peer has vanished, which would otherwise stay open for ever. */
  #keepAlive(): void {
    let isAlive = true;
    const timer = setInterval(() => {
      if (!isAlive) return this.#socket.terminate();
      isAlive = false;
      this.#socket.ping();
    }, pingMs);
    this.#socket.on('pong', () => this.#read(() => (isAlive = true)));
    this.#socket.on('close', () => clearInterval(timer));
  }
}

function parse(data: RawData): unknown {
  try {
    return Buffer.isBuffer(data) ? JSON.parse(data.toString()) : undefined;
  } catch {
    return undefined;
  }
}
