import type { LaunchBundle, ServerMessage } from '@phalanx/protocol';
import type { Bus } from '../bus/bus.ts';
import type { HostLink, HostQuestion, HostListeners } from './host-link.ts';

/** Who touches which device by hand. */
export interface Touch {
  readonly deviceId: string;
  readonly userId: string;
  /** The lease that they show. */
  readonly leaseId?: string | undefined;
}

interface Asking {
  readonly question: HostQuestion;
  readonly touch?: Touch | undefined;
}

/** Where a host's server is asked, and told that something for the host is stored. */
const questionsTo = (epoch: number): string => `host.${epoch}.ask`;
const flushesOf = (epoch: number): string => `host.${epoch}.flush`;

/**
 * The hosts that are connected to any server, by the epochs of their connections. What a host of another server is to
 * be told is stored, and its server sends it.
 */
export class LinkedHosts {
  readonly #byEpoch = new Map<number, HostLink>();
  readonly #bus: Bus;
  readonly #ends = new Map<number, (() => void)[]>();
  #requireOfTouch: (touch: Touch) => Promise<void> = async () => undefined;
  #onFlush: (epochs: readonly number[]) => void = () => undefined;

  /** Made before the features that are told what hosts say: they may answer. */
  constructor(on: HostListeners['on'], bus: Bus) {
    this.#bus = bus;
    on('hello', (link) => this.#add(link));
    on('closed', (link) => this.#remove(link));
  }

  /** Sets who sends what is stored for hosts of this server, by their connections. */
  onFlush(listener: (epochs: readonly number[]) => void): void {
    this.#onFlush = listener;
  }

  has(epoch: number): boolean {
    return this.#byEpoch.has(epoch);
  }

  /** Of the connections of this server. */
  epochs(): number[] {
    return [...this.#byEpoch.keys()];
  }

  /** To a host of this server. What can't arrive, because the connection is gone, is left to the next connection's `hello`. */
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

  /** Sets what has to hold where the phone is, at the moment of a touch. `requirement` rejects with a sentence for people. */
  requireOfTouch(requirement: (touch: Touch) => Promise<void>): void {
    this.#requireOfTouch = requirement;
  }

  /** Rejects with a sentence for people. */
  async ask(epoch: number, question: HostQuestion, touch?: Touch): Promise<Buffer> {
    const link = this.#byEpoch.get(epoch);
    if (link !== undefined) return this.#askHere(link, { question, touch });
    return this.#bus.ask(questionsTo(epoch), JSON.stringify({ question, touch }));
  }

  async #askHere(link: HostLink, { question, touch }: Asking): Promise<Buffer> {
    if (touch !== undefined) await this.#requireOfTouch(touch);
    return link.ask(question);
  }

  #add(link: HostLink): void {
    const { epoch } = link;
    this.#byEpoch.set(epoch, link);
    this.#ends.set(epoch, [
      this.#bus.subscribe(flushesOf(epoch), () => this.#onFlush([epoch])),
      // Only servers of this database reach the subject, and they write what an `Asking` is.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      this.#bus.answer(questionsTo(epoch), (asking) => this.#askHere(link, JSON.parse(asking) as Asking)),
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
