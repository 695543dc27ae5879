import { once } from 'node:events';
import { Transform } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

interface CableOptions {
  /** How long everything takes to go through; asked for each piece. Default: 0. */
  delayMs?: () => number;
  /** Passes on what one end says to the other; then there is neither delay nor silence. */
  carry?: (near: Socket, far: Socket) => void;
}

/** A TCP connection through a place where it can be cut. */
export class Cable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #delayMs: () => number;
  #isPulled = false;
  #silences = 0;
  /** Resolved while something goes through. */
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
    // A TCP server's address is never a text.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  }

  /** This address, by way of the cable. */
  through(address: string): string {
    const url = new URL(address);
    url.host = new URL(this.url).host;
    return url.href;
  }

  /** Cuts every connection that goes through; new ones go through again. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  get isPulled(): boolean {
    return this.#isPulled;
  }

  /** Nothing goes through until it is plugged in again. */
  pull(): void {
    this.#isPulled = true;
    this.cut();
  }

  plug(): void {
    this.#isPulled = false;
  }

  /** Nothing goes through, and neither end is told, until `carryOn`. */
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

  /** One direction. A piece never overtakes an earlier one, whatever the delay or a silence has become meanwhile. */
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
