import type { PhoneEvent } from '@phalanx/protocol';

/** Enough for what a phone went through in a day; a flapping one forgets its morning. */
const keptEvents = 200;

/** What a phone went through, newest last. */
export class PhoneHistory {
  readonly #onChange: (events: readonly PhoneEvent[]) => void;
  #events: readonly PhoneEvent[];

  /** `before` is what is known from earlier. */
  constructor(
    before: readonly PhoneEvent[] = [],
    onChange: (events: readonly PhoneEvent[]) => void = () => {},
  ) {
    this.#events = before.slice(-keptEvents);
    this.#onChange = onChange;
  }

  get lastRepair(): PhoneEvent | null {
    return this.#events.findLast(({ kind }) => kind === 'repair') ?? null;
  }

  list(): readonly PhoneEvent[] {
    return this.#events;
  }

  add(event: PhoneEvent): void {
    this.#events = [...this.#events, event].slice(-keptEvents);
    this.#onChange(this.#events);
  }
}
