type Listener<Event> = (event: Event) => void;

/** Hands events to whoever listens in this process. A listener must not throw. */
export class EventBus<Event> {
  readonly #listeners = new Set<Listener<Event>>();

  get hasListeners(): boolean {
    return this.#listeners.size > 0;
  }

  publish(event: Event): void {
    for (const listener of this.#listeners) listener(event);
  }

  /** Returns the function that ends the subscription. */
  subscribe(listener: Listener<Event>): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
