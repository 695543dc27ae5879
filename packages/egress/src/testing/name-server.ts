import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';

const [typeA, classIn] = [1, 1];
const headBytes = 12;

/**
 * Name server on this machine. It knows some names, and does not answer questions about names that contain `silent`.
 */
export class NameServer {
  readonly asked: string[] = [];
  readonly #socket: Socket;
  readonly #known: Readonly<Record<string, string>>;

  private constructor(socket: Socket, known: Readonly<Record<string, string>>) {
    this.#socket = socket;
    this.#known = known;
    socket.on('message', (question, peer) => this.#answer(question, peer));
  }

  /** Starts a server. `known` is the IPv4 address of each name. */
  static async start(known: Readonly<Record<string, string>>): Promise<NameServer> {
    const socket = createSocket('udp4');
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new NameServer(socket, known);
  }

  get address(): string {
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  close(): void {
    this.#socket.close();
  }

  #answer(question: Buffer, peer: RemoteInfo): void {
    const { name, end } = readName(question);
    this.asked.push(name);
    if (name.includes('silent')) return;
    const address = this.#known[name.toLowerCase()];
    const hasAnswer = address !== undefined && question.readUInt16BE(end) === typeA;
    const head = Buffer.from(question.subarray(0, headBytes));
    // Flags of a response, for an unknown or a known name.
    head.writeUInt16BE(address === undefined ? 0x8183 : 0x8180, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(Number(hasAnswer), 6);
    head.writeUInt32BE(0, 8);
    const asked = question.subarray(headBytes, end + 4);
    const answer = hasAnswer ? recordOf(address) : Buffer.alloc(0);
    this.#socket.send(Buffer.concat([head, asked, answer]), peer.port, peer.address);
  }
}

function readName(question: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = headBytes;
  for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(question.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.'), end: at + 1 };
}

function recordOf(address: string): Buffer {
  const record = Buffer.alloc(16);
  // Pointer to the name in the question.
  record.writeUInt16BE(0xc00c, 0);
  record.writeUInt16BE(typeA, 2);
  record.writeUInt16BE(classIn, 4);
  record.writeUInt16BE(4, 10);
  record.set(address.split('.').map(Number), 12);
  return record;
}
