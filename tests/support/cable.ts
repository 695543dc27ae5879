import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP connection through a place where it can be cut. */
export class Cable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isPulled = false;

  private constructor(target: { host: string; port: number }) {
    this.#server = createServer((near) => {
      const far = connect(target);
      if (this.#isPulled) near.destroy();
      near.pipe(far).pipe(near);
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

  static async to(url: string): Promise<Cable> {
    const { hostname, port } = new URL(url);
    const cable = new Cable({ host: hostname, port: Number(port) });
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

  close(): void {
    this.#server.close();
    this.cut();
  }
}
