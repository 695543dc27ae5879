import { once } from 'node:events';
import { Transform } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

interface CableOptions {
  /** Returns the latency in ms of each chunk. Default: 0. */
  delayMs?: () => number;
  /** Forwards data between both ends; delay and silence are then not available. */
  carry?: (near: Socket, far: Socket) => void;
}

/** TCP connection that can be cut. */
export class Cable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #delayMs: () => number;
  #isPulled = false;
  #silences = 0;
  /** Resolved while data passes. */
  #loud = Promise.resolve();
  #endSilence = (): void => undefined;

  private constructor(target: { host: string; port: number }, { delayMs, carry }: CableOptions) {
    this.#delayMs = delayMs ?? (() => 0);
    this.#server = createServer((near) => {
      const far = connect(target);
      if (this.#isPulled) near.destroy();
      if (carry === undefined) near.pipe(this.#line()).pipe(far).pipe(this.#line()).pipe(near);
      else carry(near, far);
      for (const socket of [near, far]) {
        this.#sockets.add(socket);
        socket.on('error', () => undefined);
        socket.on('close', () => {
          this.#sockets.delete(socket);
          near.destroy();
          far.destroy();
        });
      }
    });
  }

  static async to(url: string, options: CableOptions = {}): Promise<Cable> {
    const { hostname, port } = new URL(url);
    const cable = new Cable({ host: hostname, port: Number(port) }, options);
    cable.#server.listen(0, '127.0.0.1');
    await once(cable.#server, 'listening');
    return cable;
  }

  get url(): string {
    // The address of a TCP server is never a string.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  }

  /** Returns this address as reached through the cable. */
  through(address: string): string {
    const url = new URL(address);
    url.host = new URL(this.url).host;
    return url.href;
  }

  /** Cuts every open connection; new ones pass again. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  get isPulled(): boolean {
    return this.#isPulled;
  }

  /** Cuts every connection and blocks new ones until `plug` is called. */
  pull(): void {
    this.#isPulled = true;
    this.cut();
  }

  plug(): void {
    this.#isPulled = false;
  }

  /** Drops all data, without either end noticing, until `carryOn` is called. */
  silence(): void {
    this.#silences += 1;
    if (this.#silences > 1) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#loud = promise;
    this.#endSilence = resolve;
  }

  /** Ends a silence. A cable that was silenced twice needs two calls. */
  carryOn(): void {
    this.#silences -= 1;
    if (this.#silences === 0) this.#endSilence();
  }

  /** Creates one direction. A chunk never overtakes an earlier one, regardless of changes to delay or silence. */
  #line(): Transform {
    const pass = async (): Promise<void> => {
      await this.#loud;
      if (this.#delayMs() > 0) await sleep(this.#delayMs());
    };
    return new Transform({
      transform: (chunk: Buffer, _encoding, done) => void pass().then(() => done(null, chunk)),
    });
  }

  close(): void {
    this.#server.close();
    this.cut();
  }
}
