import { type HostTouchType, isHostTouch, type LaunchBundle, type ServerMessage } from '@phalanx/protocol';

import type { Bus } from '../../storage/bus/bus.ts';
import type { HostLink, HostQuestion } from './host-link.ts';
import type { HostListeners } from './host-listeners.ts';
import { userMark } from './user-mark.ts';

/** Touch of a device by a user. */
export interface Touch {
  readonly deviceId: string;
  readonly userId: string;
  /** Lease that the user presents. */
  readonly leaseId?: string | undefined;
}

/** Arguments that a question of this type takes. */
export type TouchFor<Type extends HostQuestion['type']> = Type extends HostTouchType ? [touch: Touch] : [];

interface HostRequest {
  readonly question: HostQuestion;
  readonly touch?: Touch | undefined;
}

/** Bus subjects on which the server of a host receives questions, and notices that a message to the host is stored. */
const questionsTo = (epoch: number): string => `host.${epoch}.ask`;
const flushesOf = (epoch: number): string => `host.${epoch}.flush`;

/**
 * Hosts that are connected to any server, by the epochs of their connections. A message to a host on another server is
 * stored, and that server sends it.
 */
export class ConnectedHosts {
  readonly #byEpoch = new Map<number, HostLink>();
  readonly #bus: Bus;
  readonly #ends = new Map<number, (() => void)[]>();
  #permit: (touch: Touch) => Promise<number> = () => Promise.reject(new Error('nobody may touch it yet'));
  #onFlush: (epochs: readonly number[]) => void = () => undefined;

  /** Requires creation before the features register for hosts, because their listeners may reply to the host. */
  constructor(on: HostListeners['on'], bus: Bus) {
    this.#bus = bus;
    on('hello', (link) => this.#add(link));
    on('closed', (link) => this.#remove(link));
  }

  /** Sets the listener that sends the stored messages to hosts of this server, by connection epoch. */
  onFlush(listener: (epochs: readonly number[]) => void): void {
    this.#onFlush = listener;
  }

  has(epoch: number): boolean {
    return this.#byEpoch.has(epoch);
  }

  /** Returns the epochs of the connections to this server. */
  epochs(): number[] {
    return [...this.#byEpoch.keys()];
  }

  /**
   * Sends a message to a host of this server. A message that can't arrive because the connection is closed is left to
   * the `hello` of the next connection.
   */
  send(epoch: number, message: ServerMessage): void {
    const link = this.#byEpoch.get(epoch);
    if (message.type !== 'launch') link?.send(message);
    else link?.send({ ...message, bundle: bundleFor(link, message.bundle) });
  }

  /** Sends the stored messages of a host, on whichever server it is connected to. */
  flush(epoch: number): void {
    if (this.has(epoch)) this.#onFlush([epoch]);
    else this.#bus.publish(flushesOf(epoch), '');
  }

  /**
   * Sets the check for whether a user may touch a device. The server that the host is connected to runs it at the
   * moment of the touch. `permit` resolves with the number of leases of the phone that have begun or ended so far, and
   * rejects with a user-facing message.
   */
  permitTouches(permit: (touch: Touch) => Promise<number>): void {
    this.#permit = permit;
  }

  /** Asks a host on any server. Rejects with a user-facing message. */
  async ask<Question extends HostQuestion>(
    epoch: number,
    question: Question,
    ...[touch]: TouchFor<Question['type']>
  ): Promise<Buffer> {
    const link = this.#byEpoch.get(epoch);
    if (link !== undefined) return this.#askHere(link, { question, touch });
    return this.#bus.ask(questionsTo(epoch), JSON.stringify({ question, touch }));
  }

  async #askHere(link: HostLink, { question, touch }: HostRequest): Promise<Buffer> {
    if (touch === undefined) {
      if (isHostTouch(question.type)) throw new Error(`the question ${question.type} does not say who asks`);
      return link.ask(question);
    }
    const { deviceId: device_id, userId } = touch;
    const lease = await this.#permit(touch);
    // User IDs are not disclosed to hosts of other users.
    return link.ask({ ...question, touch: { device_id, lease, by: userMark(device_id, userId) } });
  }

  #add(link: HostLink): void {
    const { epoch } = link;
    this.#byEpoch.set(epoch, link);
    this.#ends.set(epoch, [
      this.#bus.subscribe(flushesOf(epoch), () => this.#onFlush([epoch])),
      // The servers of this database alone can publish to the subject, and they send a `HostRequest`.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      this.#bus.answer(questionsTo(epoch), (text) => this.#askHere(link, JSON.parse(text) as HostRequest)),
    ]);
  }

  #remove({ epoch }: HostLink): void {
    this.#byEpoch.delete(epoch);
    for (const end of this.#ends.get(epoch) ?? []) end();
    this.#ends.delete(epoch);
  }
}

/** Omits the code of a bundle that the host already has, by its hash. */
function bundleFor({ bundles }: HostLink, { hash, content }: LaunchBundle): LaunchBundle {
  if (content === null || bundles.find(hash) !== undefined) return { hash, content: null };
  bundles.add(hash, content.code.length + (content.source_map?.length ?? 0), true);
  return { hash, content };
}
