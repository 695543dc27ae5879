import type { PhoneEvent } from '@phalanx/protocol';

/** Enough for what a phone went through in a day; a flapping one forgets its morning. */
const keptEvents = 200;

/** What a phone went through since the host began, newest last. */
export class PhoneHistory {
  #events: PhoneEvent[] = [];
  #lastRepair: PhoneEvent | null = null;

  get lastRepair(): PhoneEvent | null {
    return this.#lastRepair;
  }

  list(): readonly PhoneEvent[] {
    return this.#events;
  }

  add(event: PhoneEvent): void {
    this.#events = [...this.#events, event].slice(-keptEvents);
    if (event.kind === 'repair') this.#lastRepair = event;
  }
}
