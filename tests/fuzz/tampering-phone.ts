import type { Socket } from 'node:net';
import { type SimulatedPhone, startSimulatedPhone } from '@phalanx/simulated-phone';

import { Cable } from '../support/cable.ts';
import type { Tampering } from './tampered-messages.ts';

const headerBytes = 24;
const lengthAt = 12;

/** Simulated phone whose ADB messages are changed on their way to the host. */
export class TamperingPhone {
  readonly host = '127.0.0.1';
  readonly port: number;
  readonly #phone: SimulatedPhone;
  readonly #cable: Cable;
  #tamperings: Iterator<Tampering> = [].values();
  /** Number of changed messages. */
  changed = 0;

  private constructor(phone: SimulatedPhone, cable: Cable) {
    this.#phone = phone;
    this.#cable = cable;
    this.port = Number(new URL(cable.url).port);
  }

  static async start(serial: string): Promise<TamperingPhone> {
    const phone = await startSimulatedPhone({ serial });
    const carry = (near: Socket, far: Socket): void => tampering.#carry(near, far);
    const tampering = new TamperingPhone(
      phone,
      await Cable.to(`http://${phone.host}:${phone.port}`, { carry }),
    );
    return tampering;
  }

  /** Starts tampering: each function changes one message of the phone; later messages stay unchanged. */
  begin(tamperings: readonly Tampering[]): void {
    this.#tamperings = tamperings.values();
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
    const next = this.#tamperings.next();
    if (next.done === true) return Buffer.concat([header, payload]);
    this.changed += 1;
    return next.value(Buffer.from(header), payload);
  }
}

const lengthOf = (bytes: Buffer): number =>
  bytes.length < headerBytes ? Infinity : headerBytes + bytes.readUInt32LE(lengthAt);
