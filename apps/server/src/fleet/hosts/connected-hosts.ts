import { type HostTouchType, isHostTouch, type LaunchBundle, type ServerMessage } from '@phalanx/protocol';

import type { Bus } from '../../storage/bus/bus.ts';
import type { HostLink, HostQuestion } from './host-link.ts';
import type { HostListeners } from './host-listeners.ts';
import { userMark } from './user-mark.ts';

/** A user's touch of a device by hand. */
export interface Touch {
  readonly deviceId: string;
  readonly userId: string;
  /** The lease that they show. */
  readonly leaseId?: string | undefined;
}

/** Arguments that a question of that type is asked with. */
export type TouchFor<Type extends HostQuestion['type']> = Type extends HostTouchType ? [touch: Touch] : [];

interface HostRequest {
  readonly question: HostQuestion;
  readonly touch?: Touch | undefined;
}

/** The subjects of the bus on which a host's server is asked, and is told that a message to the host is stored. */
const questionsTo = (epoch: number): string => `host.${epoch}.ask`;
const flushesOf = (epoch: number): string => `host.${epoch}.flush`;

/**
 * The hosts that are connected to any server, by the epochs of their connections. A message to a host of another server
 * is stored, and that server sends it.
 */
export class ConnectedHosts {
  readonly #byEpoch = new Map<number, HostLink>();
  readonly #bus: Bus;
  readonly #ends = new Map<number, (() => void)[]>();
  #permit: (touch: Touch) => Promise<number> = () => Promise.reject(new Error('nobody may touch it yet'));
  #onFlush: (epochs: readonly number[]) => void = () => undefined;

  /** Create it before the features that are told what hosts say: they may answer. */
  constructor(on: HostListeners['on'], bus: Bus) {
    this.#bus = bus;
    on('hello', (link) => this.#add(link));
    on('closed', (link) => this.#remove(link));
  }

  /** Sets the listener that sends what is stored for hosts of this server, by their connections. */
  onFlush(listener: (epochs: readonly number[]) => void): void {
    this.#onFlush = listener;
  }

  has(epoch: number): boolean {
    return this.#byEpoch.has(epoch);
  }

  /** Epochs of the connections of this server. */
  epochs(): number[] {
    return [...this.#byEpoch.keys()];
  }

  /**
   * Sends to a host of this server. A message that can't arrive, because the connection is gone, is left to the next
   * connection's `hello`.
   */
  send(epoch: number, message: ServerMessage): void {
    const link = this.#byEpoch.get(epoch);
    if (message.type !== 'launch') link?.send(message);
    else link?.send({ ...message, bundle: bundleFor(link, message.bundle) });
  }

  /** Has what is stored for a host sent, whichever server has it. */
  flush(epoch: number): void {
    if (this.has(epoch)) this.#onFlush([epoch]);
    else this.#bus.publish(flushesOf(epoch), '');
  }

  /**
   * Sets who may touch, asked where the phone is, at the moment of the touch. `permit` resolves with the count of the phone's leases at
   * that moment, and rejects with a sentence for people.
   */
  permitTouches(permit: (touch: Touch) => Promise<number>): void {
    this.#permit = permit;
  }

  /** Rejects with a sentence for people. */
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
    // Hosts of other users are not told of IDs of users.
    return link.ask({ ...question, touch: { device_id, lease, by: userMark(device_id, userId) } });
  }

  #add(link: HostLink): void {
    const { epoch } = link;
    this.#byEpoch.set(epoch, link);
    this.#ends.set(epoch, [
      this.#bus.subscribe(flushesOf(epoch), () => this.#onFlush([epoch])),
      // No sender but the servers of this database reaches the subject, and they send a `HostRequest`.
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

/** A host that has the code by its hash is not sent it again. */
function bundleFor({ bundles }: HostLink, { hash, content }: LaunchBundle): LaunchBundle {
  if (content === null || bundles.find(hash) !== undefined) return { hash, content: null };
  bundles.add(hash, content.code.length + (content.source_map?.length ?? 0), true);
  return { hash, content };
}
