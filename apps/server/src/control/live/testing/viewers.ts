import { WebSocket } from 'ws';

interface Answer {
  readonly type?: string;
  readonly no_video?: string;
  readonly packets?: readonly { is_key: boolean; size_bytes: number }[];
  /** Bytes of the picture as characters. */
  jpeg?: string;
}

/** Viewer of one phone over a WebSocket. */
export class Viewer {
  readonly messages: Answer[] = [];
  /** Close code. */
  readonly ended: Promise<number>;
  readonly #socket: WebSocket;
  #arrived: (answer: Answer) => void = () => undefined;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    this.ended = new Promise((resolve) => {
      socket.on('close', resolve);
    });
    socket.on('error', () => undefined);
    socket.on('message', (data, isBinary) => {
      if (Buffer.isBuffer(data)) this.#take(data, isBinary);
    });
  }

  /** Opens a viewer. Rejects with the HTTP status when it is refused. */
  static async open(url: string, headers: Record<string, string>): Promise<Viewer> {
    const sent = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''));
    const socket = new WebSocket(url.replace('http', 'ws'), { headers: sent });
    const viewer = new Viewer(socket);
    await new Promise((resolve, reject) => {
      socket.on('open', resolve);
      socket.on('error', reject);
    });
    return viewer;
  }

  ask(): void {
    this.send('{"type":"next"}');
  }

  send(text: string): void {
    this.#socket.send(text);
  }

  /** Requests an answer. Resolves with it, including the picture if there is one. */
  next(): Promise<Answer> {
    const answer = new Promise<Answer>((resolve) => {
      this.#arrived = resolve;
    });
    this.ask();
    return answer;
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  close(): void {
    this.#socket.close();
  }

  #take(data: Buffer, isBinary: boolean): void {
    const last = this.messages.at(-1);
    if (isBinary && last !== undefined) last.jpeg = data.toString('latin1');
    else this.messages.push(JSON.parse(data.toString()));
    const answer = this.messages.at(-1);
    if (answer !== undefined && (isBinary || (answer.type !== 'frame' && answer.type !== 'video')))
      this.#arrived(answer);
  }
}

interface WallEvent {
  readonly type: string;
  readonly device_id: string;
  readonly reason?: string;
  /** Bytes of the picture as characters. */
  jpeg?: string;
}

/** Viewer of many phones over a WebSocket. Acknowledges each picture while `answers` is true. */
export class WallWatcher {
  readonly received: WallEvent[] = [];
  /** Close code. */
  readonly ended: Promise<number>;
  answers = true;
  readonly #socket: WebSocket;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    this.ended = new Promise((resolve) => {
      socket.on('close', resolve);
    });
    socket.on('error', () => undefined);
    socket.on('message', (data, isBinary) => {
      if (Buffer.isBuffer(data)) this.#take(data, isBinary);
    });
  }

  /** Opens a viewer. Rejects with the HTTP status when it is refused. */
  static async open(url: string, token: string, query = ''): Promise<WallWatcher> {
    const headers = { authorization: `Bearer ${token}` };
    const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v2/devices/live${query}`, { headers });
    const watcher = new WallWatcher(socket);
    await new Promise((resolve, reject) => {
      socket.on('open', resolve);
      socket.on('error', reject);
    });
    return watcher;
  }

  watch(...device_ids: readonly string[]): void {
    this.send({ type: 'watch', device_ids });
  }

  leave(...device_ids: readonly string[]): void {
    this.send({ type: 'leave', device_ids });
  }

  shown(pictures: number): void {
    this.send({ type: 'shown', pictures });
  }

  send(message: unknown): void {
    this.#socket.send(JSON.stringify(message));
  }

  /** Returns the pictures of a phone in order. */
  picturesOf(deviceId: string): string[] {
    return this.received.flatMap((one) => (one.device_id === deviceId ? (one.jpeg ?? []) : []));
  }

  close(): void {
    this.#socket.close();
  }

  #take(data: Buffer, isBinary: boolean): void {
    const last = this.received.at(-1);
    if (isBinary && last !== undefined) {
      last.jpeg = data.toString('latin1');
      if (this.answers) this.shown(1);
    } else this.received.push(JSON.parse(data.toString()));
  }
}
