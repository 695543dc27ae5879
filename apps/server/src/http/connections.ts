import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

import type { Limits } from '../limits/limits.ts';
import { networkOf, type TrustProxy } from './caller-address.ts';

/** So many beyond a limit are told so; the others are only closed. */
const mostTold = 64;
/** So long who is told has to send a request. */
const tellMs = 5000;

type Excess = 'connections' | 'address_connections';

/** Counts connections, by the address that they come from. */
export class Connections {
  readonly #limits: Limits;
  readonly #trust: TrustProxy;
  readonly #byAddress = new Map<string, number>();
  readonly #beyond = new WeakMap<object, Excess>();
  #open = 0;

  constructor(limits: Limits, trust: TrustProxy) {
    this.#limits = limits;
    this.#trust = trust;
  }

  get open(): number {
    return this.#open;
  }

  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.#take(socket));
  }

  /** Throws `too_many_connections` when the connection of the request is one too many. */
  requirePlace({ socket }: Pick<IncomingMessage, 'socket'>): void {
    const excess = this.#beyond.get(socket);
    if (excess !== undefined) throw this.#limits.refusal(excess, null, { seconds: 10 });
  }

  #take(socket: Socket): void {
    const direct = socket.remoteAddress ?? '';
    const address = this.#trust(direct) ? undefined : networkOf(direct);
    this.#count(address, 1);
    socket.once('close', () => this.#count(address, -1));
    const ofAddress = address === undefined ? 0 : (this.#byAddress.get(address) ?? 0);
    this.#refuse(socket, 'connections', this.#open);
    this.#refuse(socket, 'address_connections', ofAddress);
  }

  #refuse(socket: Socket, limit: Excess, count: number): void {
    const beyond = count - this.#limits.most(limit);
    if (beyond <= 0) return;
    if (beyond > mostTold) {
      this.#limits.note(limit, null);
      socket.destroy();
    }
    this.#beyond.set(socket, limit);
    socket.setTimeout(tellMs, () => socket.destroy());
  }

  #count(address: string | undefined, change: number): void {
    this.#open += change;
    if (address === undefined) return;
    const count = (this.#byAddress.get(address) ?? 0) + change;
    if (count > 0) this.#byAddress.set(address, count);
    else this.#byAddress.delete(address);
  }
}
