import { randomBytes } from 'node:crypto';

/** NATS allows a mebibyte unless its operator has set it otherwise. */
const pieceBytes = 512 * 1024;
/** Nothing that is sent is longer; a sender that goes on is not one of ours. */
const maxMessageBytes = 128 * 1024 * 1024;
const senderBytes = 8;
const more = 0;
const last = 1;
const refusal = 2;

/** Of this process: the pieces of different senders may come between each other. */
const sender = randomBytes(senderBytes);

const pieceOf = (kind: number, bytes: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([kind]), sender, bytes]);

/** A message as it is sent: one piece, or several when it is long. */
export function* piecesOf(message: Buffer): Generator<Buffer> {
  let first = 0;
  for (; message.length - first > pieceBytes; first += pieceBytes)
    yield pieceOf(more, message.subarray(first, first + pieceBytes));
  yield pieceOf(last, message.subarray(first));
}

/** Instead of an answer. */
export const refusalOf = (reason: string): Buffer => pieceOf(refusal, Buffer.from(reason));

/** What has arrived as a whole. */
export interface Arrived {
  readonly isRefusal: boolean;
  readonly bytes: Buffer;
}

/** Puts together what comes at one subject. */
export class Pieces {
  readonly #ofSenders = new Map<string, { pieces: Buffer[]; bytes: number }>();

  /** Undefined: more is to come. */
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

  /** Begins anew: the rest of what has begun does not come any more. */
  clear(): void {
    this.#ofSenders.clear();
  }
}
