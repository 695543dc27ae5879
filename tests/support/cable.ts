import { once } from 'node:events';
import { Transform } from 'node:stream';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Passes on what one end says to the other. */
export type Carry = (near: Socket, far: Socket) => void;

const carryBoth: Carry = (near, far) => void near.pipe(far).pipe(near);

/** Passes everything on so much later, ms. */
export const carrySlowly =
  (delayMs: () => number): Carry =>
  (near, far) => {
    const late = (): Transform =>
      new Transform({
        transform: (chunk: Buffer, _encoding, done) => {
          if (delayMs() === 0) done(null, chunk);
          else setTimeout(() => done(null, chunk), delayMs());
        },
      });
    near.pipe(late()).pipe(far).pipe(late()).pipe(near);
  };

/** A TCP connection through a place where it can be cut. */
export class Cable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #pairs = new Set<readonly [near: Socket, far: Socket]>();
  readonly #carry: Carry;
  #isPulled = false;
  #isSilent = false;

  private constructor(target: { host: string; port: number }, carry: Carry) {
    this.#carry = carry;
    this.#server = createServer((near) => {
      const far = connect(target);
      const pair = [near, far] as const;
      this.#pairs.add(pair);
      if (this.#isPulled) near.destroy();
      if (!this.#isSilent) carry(near, far);
      for (const socket of [near, far]) {
        this.#sockets.add(socket);
        socket.on('error', () => undefined);
        socket.on('close', () => {
          this.#sockets.delete(socket);
          this.#pairs.delete(pair);
          near.destroy();
          far.destroy();
        });
      }
    });
  }

  static async to(url: string, carry: Carry = carryBoth): Promise<Cable> {
    const { hostname, port } = new URL(url);
    const cable = new Cable({ host: hostname, port: Number(port) }, carry);
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
    this.#isSilent = true;
    for (const [near, far] of this.#pairs) {
      near.unpipe();
      far.unpipe();
    }
  }

  carryOn(): void {
    this.#isSilent = false;
    for (const [near, far] of this.#pairs) this.#carry(near, far);
  }

  close(): void {
    this.#server.close();
    this.cut();
  }
}
