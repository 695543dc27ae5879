import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { type SimulatedPhone, startSimulatedPhone } from '@phalanx/simulated-phone';

import type { Lie } from './phone-lies.ts';

const headerBytes = 24;
const lengthAt = 12;

/** A simulated phone on whose way to the host ADB messages become lies. */
export class LyingPhone {
  readonly host = '127.0.0.1';
  readonly #phone: SimulatedPhone;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #lies: Iterator<Lie> = [].values();
  /** Messages that took a lie. */
  told = 0;

  private constructor(phone: SimulatedPhone) {
    this.#phone = phone;
    this.#server = createServer((near) => this.#join(near, connect({ host: phone.host, port: phone.port })));
  }

  static async start(serial: string): Promise<LyingPhone> {
    const lying = new LyingPhone(await startSimulatedPhone({ serial }));
    lying.#server.listen(0, lying.host);
    await once(lying.#server, 'listening');
    return lying;
  }

  get port(): number {
    // A TCP server's address is never a text.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return (this.#server.address() as AddressInfo).port;
  }

  /** Each message of the phone takes one of them; afterwards it speaks the truth. */
  begin(lies: readonly Lie[]): void {
    this.#lies = lies.values();
  }

  async stop(): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await this.#phone.stop();
  }

  #join(near: Socket, far: Socket): void {
    for (const socket of [near, far]) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far);
    let rest: Buffer = Buffer.alloc(0);
    far.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      for (let length = lengthOf(rest); rest.length >= length; length = lengthOf(rest)) {
        near.write(this.#said(rest.subarray(0, headerBytes), rest.subarray(headerBytes, length)));
        rest = rest.subarray(length);
      }
    });
  }

  #said(header: Buffer, payload: Buffer): Buffer {
    const next = this.#lies.next();
    if (next.done === true) return Buffer.concat([header, payload]);
    this.told += 1;
    return next.value(Buffer.from(header), payload);
  }
}

const lengthOf = (bytes: Buffer): number =>
  bytes.length < headerBytes ? Infinity : headerBytes + bytes.readUInt32LE(lengthAt);
