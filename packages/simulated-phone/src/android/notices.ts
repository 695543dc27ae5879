export interface Notification {
  readonly packageName: string;
  readonly title: string;
  readonly text: string;
  /** Tag that the app gives it. Default: none. */
  readonly tag?: string;
  /** Ticker text, which accessibility services get. Default: title and text. */
  readonly ticker?: string;
  /** Labels of its buttons. Default: none. */
  readonly actions?: readonly string[];
  /** Lines of the inbox style, one per message. Default: none. */
  readonly lines?: readonly string[] | undefined;
  /** Version that the lock screen shows instead. Default: none. */
  readonly publicVersion?: { readonly title: string; readonly text: string };
}

/** Time in ms for which the UiAutomator2 server remembers the last toast or notification. */
const announcedMs = 3500;

/** Toasts and notifications, and the latest announcement to accessibility services. */
export class Notices {
  readonly notifications: Notification[] = [
    {
      packageName: 'android',
      title: 'USB debugging connected',
      text: 'Tap to turn off USB debugging',
    },
  ];
  #announced: { readonly text: string; readonly at: number } | undefined;

  showToast(text: string): void {
    this.#announced = { text, at: performance.now() };
  }

  post(notification: Notification): void {
    this.notifications.push(notification);
    this.showToast(`${notification.title}: ${notification.text}`);
  }

  /** Returns the text of the latest toast or notification while it is fresh. */
  get announced(): string | undefined {
    const last = this.#announced;
    return last && performance.now() - last.at < announcedMs ? last.text : undefined;
  }
}
