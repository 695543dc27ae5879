import type { LaunchBundle, ServerMessage } from '@phalanx/protocol';

import type { Bus } from '../bus/bus.ts';
import type { HostLink, HostQuestion } from './host-link.ts';
import type { HostListeners } from './host-listeners.ts';

/** What of a host is asked through the bus, and where its server is told to look. */
const questionsTo = (epoch: number): string => `host.${epoch}.ask`;
const looksFor = (epoch: number): string => `host.${epoch}.look`;

/**
 * The hosts that are connected, for who tells them or asks them something: by the epochs of their connections. What
 * those of other servers are to be told is stored, and their server told to look.
 */
export class LinkedHosts {
  readonly #byEpoch = new Map<number, HostLink>();
  readonly #bus: Bus | undefined;
  readonly #ends = new Map<number, (() => void)[]>();
  #onLook: (epochs: readonly number[]) => void = () => undefined;

  /** Made before the features that are told what hosts say: they may answer. */
  constructor(on: HostListeners['on'], bus?: Bus) {
    this.#bus = bus;
    on('hello', (link) => this.#add(link));
    on('closed', (link) => this.#remove(link));
  }

  /** Sets who is told of connections of this server whose hosts are to be told something that is stored. */
  onLook(listener: (epochs: readonly number[]) => void): void {
    this.#onLook = listener;
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

  /** Something that the host is to be told is stored, whichever server has it. */
  look(epoch: number): void {
    if (this.has(epoch)) this.#onLook([epoch]);
    else this.#bus?.publish(looksFor(epoch), '');
  }

  /** Rejects with a sentence for people. */
  async ask(epoch: number, question: HostQuestion): Promise<Buffer> {
    const link = this.#byEpoch.get(epoch);
    if (link !== undefined) return link.ask(question);
    if (this.#bus === undefined) throw new Error('its host is not connected');
    return this.#bus.ask(questionsTo(epoch), JSON.stringify(question));
  }

  #add(link: HostLink): void {
    const { epoch } = link;
    this.#byEpoch.set(epoch, link);
    if (this.#bus === undefined) return;
    this.#ends.set(epoch, [
      this.#bus.subscribe(looksFor(epoch), () => this.#onLook([epoch])),
      // Only servers of this database reach the subject, and they write what a `HostQuestion` is.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      this.#bus.answer(questionsTo(epoch), (question) => link.ask(JSON.parse(question) as HostQuestion)),
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
