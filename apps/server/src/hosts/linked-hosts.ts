import type { LaunchBundle, ServerMessage } from '@phalanx/protocol';

import type { HostLink, HostQuestion } from './host-link.ts';
import type { HostListeners } from './host-listeners.ts';

/** The hosts that are connected to this server, for who tells them or asks them something: by the epochs of their connections. */
export class LinkedHosts {
  readonly #byEpoch = new Map<number, HostLink>();

  /** Made before the features that are told what hosts say: they may answer. */
  constructor(on: HostListeners['on']) {
    on('hello', (link) => void this.#byEpoch.set(link.epoch, link));
    on('closed', (link) => void this.#byEpoch.delete(link.epoch));
  }

  has(epoch: number): boolean {
    return this.#byEpoch.has(epoch);
  }

  /** What can't arrive, because the connection is gone, is left to the next connection's `hello`. */
  send(epoch: number, message: ServerMessage): void {
    const link = this.#byEpoch.get(epoch);
    if (message.type !== 'launch') link?.send(message);
    else link?.send({ ...message, bundle: bundleFor(link, message.bundle) });
  }

  /** Rejects with a sentence for people. */
  async ask(epoch: number, question: HostQuestion): Promise<Buffer> {
    const link = this.#byEpoch.get(epoch);
    if (link === undefined) throw new Error('its host is not connected');
    return link.ask(question);
  }
}

/** A host that has the code by its hash is not sent it again. */
function bundleFor({ bundles }: HostLink, { hash, content }: LaunchBundle): LaunchBundle {
  if (content === null || bundles.find(hash) !== undefined) return { hash, content: null };
  bundles.add(hash, content.code.length + (content.source_map?.length ?? 0), true);
  return { hash, content };
}
