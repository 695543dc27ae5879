import type { Socket } from 'node:net';
import { type SimulatedPhone, startSimulatedPhone } from '@phalanx/simulated-phone';

import { Cable } from '../support/cable.ts';
import type { Lie } from './phone-lies.ts';

const headerBytes = 24;
const lengthAt = 12;

/** A simulated phone on whose way to the host ADB messages become lies. */
export class LyingPhone {
  readonly host = '127.0.0.1';
  readonly port: number;
  readonly #phone: SimulatedPhone;
  readonly #cable: Cable;
  #lies: Iterator<Lie> = [].values();
  /** Messages that took a lie. */
  told = 0;

  private constructor(phone: SimulatedPhone, cable: Cable) {
    this.#phone = phone;
    this.#cable = cable;
    this.port = Number(new URL(cable.url).port);
  }

  static async start(serial: string): Promise<LyingPhone> {
    const phone = await startSimulatedPhone({ serial });
    const carry = (near: Socket, far: Socket): void => lying.#carry(near, far);
    const lying = new LyingPhone(phone, await Cable.to(`http://${phone.host}:${phone.port}`, { carry }));
    return lying;
  }

  /** Each message of the phone takes one of them; afterwards it speaks the truth. */
  begin(lies: readonly Lie[]): void {
    this.#lies = lies.values();
  }

  async stop(): Promise<void> {
    this.#cable.close();
    await this.#phone.stop();
  }

  #carry(near: Socket, far: Socket): void {
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
