import type { Notification } from './notices.ts';

/** `heads_up_notification_decay` of SystemUI (frameworks/base/packages/SystemUI/res/values/config.xml). */
const decayMs = 5000;

/** Notification that covers the top of the screen for a few seconds. */
export class HeadsUp {
  #shown: Notification | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get shown(): Notification | undefined {
    return this.#shown;
  }

  show(notification: Notification, forMs = decayMs): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.hide(), forMs).unref();
    this.#set(notification);
  }

  hide(): void {
    clearTimeout(this.#timer);
    this.#set(undefined);
  }

  #set(notification: Notification | undefined): void {
    this.#shown = notification;
    this.#onChange();
  }
}
