import type { Duplex } from 'node:stream';

/** The listening sockets of the phone, by ADB's names for them, such as `tcp:6790`. */
export class DeviceSockets {
  readonly #listeners = new Map<string, (stream: Duplex) => void>();

  /** Starts to listen. Throws when the name is taken. Returns what stops it. */
  listen(name: string, accept: (stream: Duplex) => void): () => void {
    if (this.#listeners.has(name)) throw new Error(`${name} is already in use on this phone.`);
    this.#listeners.set(name, accept);
    return () => {
      if (this.#listeners.get(name) === accept) this.#listeners.delete(name);
    };
  }

  find(name: string): ((stream: Duplex) => void) | undefined {
    return this.#listeners.get(name.replace(/^tcp:(?:localhost:|127\.0\.0\.1:)?(?=\d+$)/, 'tcp:'));
  }
}
