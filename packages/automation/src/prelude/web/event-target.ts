interface Listening {
  listener: EventListener;
  once: boolean;
}

/** An event without the tree of elements that browsers have around it. */
export class PlainEvent implements Event {
  readonly type: string;
  target: EventTarget | null = null;
  defaultPrevented = false;
  /** Set by `stopImmediatePropagation`. */
  isStopped = false;
  readonly #cancelable: boolean;

  constructor(type: string, init: { cancelable?: boolean } = {}) {
    this.type = String(type);
    this.#cancelable = init.cancelable === true;
  }

  preventDefault(): void {
    if (this.#cancelable) this.defaultPrevented = true;
  }

  stopImmediatePropagation(): void {
    this.isStopped = true;
  }
}

/** The error of a listener goes here: it ends the run, and the other listeners are still called. */
type ReportError = (error: unknown) => void;
let reportError: ReportError = () => {};
export function onListenerError(report: ReportError): void {
  reportError = report;
}

export class PlainEventTarget implements EventTarget {
  readonly #listeners = new Map<string, Listening[]>();

  addEventListener(
    type: string,
    listener: EventListener | null,
    options: { once?: boolean; signal?: AbortSignal } | boolean = {},
  ): void {
    const { once = false, signal } = typeof options === 'boolean' ? {} : options;
    const listening = this.#listeners.get(String(type)) ?? [];
    if (listener === null || signal?.aborted || listening.some((known) => known.listener === listener))
      return;
    this.#listeners.set(String(type), [...listening, { listener, once }]);
    signal?.addEventListener('abort', () => this.removeEventListener(type, listener), { once: true });
  }

  removeEventListener(type: string, listener: EventListener | null): void {
    const listening = this.#listeners.get(String(type)) ?? [];
    this.#listeners.set(
      String(type),
      listening.filter((known) => known.listener !== listener),
    );
  }

  dispatchEvent(event: Event): boolean {
    if (event instanceof PlainEvent) event.target = this;
    for (const { listener, once } of this.#listeners.get(event.type) ?? []) {
      if (event instanceof PlainEvent && event.isStopped) break;
      if (once) this.removeEventListener(event.type, listener);
      call(this, listener, event);
    }
    return !event.defaultPrevented;
  }
}

function call(target: EventTarget, listener: EventListener, event: Event): void {
  try {
    if (typeof listener === 'function') listener.call(target, event);
    else listener.handleEvent(event);
  } catch (error) {
    reportError(error);
  }
}
