export interface Notification {
  readonly packageName: string;
  readonly title: string;
  readonly text: string;
  /** The app's own name for it. Default: none. */
  readonly tag?: string;
  /** The ticker, which accessibility services are told. Default: title and text. */
  readonly ticker?: string;
  /** The words on its buttons. Default: none. */
  readonly actions?: readonly string[];
  /** Lines of the inbox style, one for each thing that came. Default: none. */
  readonly lines?: readonly string[] | undefined;
  /** The version that the lock screen shows in its place. Default: nothing else. */
  readonly publicVersion?: { readonly title: string; readonly text: string };
}

/** Time for which the UiAutomator2 server remembers the last toast or notification. */
const announcedMs = 3500;

/** Toasts and notifications, and what of them accessibility services were told last. */
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

  /** The text of the last toast or notification, while it is fresh. */
  get announced(): string | undefined {
    const last = this.#announced;
    return last && performance.now() - last.at < announcedMs ? last.text : undefined;
  }
}
