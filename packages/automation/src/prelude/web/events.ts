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

const constructing = Symbol('constructing');
/** How a controller aborts its signal; kept here so that a signal alone cannot be aborted. */
const abortOf = new WeakMap<AbortSignal, (reason: unknown) => void>();

class PlainAbortSignal extends PlainEventTarget implements AbortSignal {
  onabort: ((event: Event) => void) | null = null;
  #aborted = false;
  #reason: unknown = undefined;

  constructor(key: symbol) {
    if (key !== constructing) throw new TypeError('Illegal constructor: use new AbortController().signal.');
    super();
    abortOf.set(this, (reason) => this.#abort(reason));
  }

  get aborted(): boolean {
    return this.#aborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  throwIfAborted(): void {
    if (this.#aborted) throw this.#reason;
  }

  #abort(reason: unknown): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason ?? new DOMException('This operation was aborted', 'AbortError');
    const event = new PlainEvent('abort');
    this.onabort?.(event);
    this.dispatchEvent(event);
  }
}

class PlainAbortController implements AbortController {
  readonly #signal = new PlainAbortSignal(constructing);

  get signal(): AbortSignal {
    return this.#signal;
  }

  abort(reason?: unknown): void {
    abortOf.get(this.#signal)?.(reason);
  }
}

/** `later` calls back after a time without keeping the run alive. */
export function createAbortGlobals(later: (callback: () => void, delayMs: number) => void) {
  const statics: typeof AbortSignal = {
    abort(reason) {
      const controller = new PlainAbortController();
      controller.abort(reason);
      return controller.signal;
    },
    timeout(durationMs) {
      const controller = new PlainAbortController();
      later(
        () => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
        durationMs,
      );
      return controller.signal;
    },
    any(signals) {
      const controller = new PlainAbortController();
      for (const signal of signals) {
        if (signal.aborted) controller.abort(signal.reason);
        else signal.addEventListener('abort', () => controller.abort(signal.reason), { once: true });
      }
      return controller.signal;
    },
  };
  return {
    AbortController: renamed(PlainAbortController, 'AbortController'),
    AbortSignal: Object.assign(renamed(PlainAbortSignal, 'AbortSignal'), statics),
  };
}

/** Gives a class the name that users know it by. */
export function renamed<T extends abstract new (...args: never[]) => unknown>(
  constructor: T,
  name: string,
): T {
  Object.defineProperty(constructor, 'name', { value: name });
  Object.defineProperty(constructor.prototype, Symbol.toStringTag, { value: name, configurable: true });
  return constructor;
}
