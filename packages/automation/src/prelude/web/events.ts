interface Listening {
  listener: EventListenerOrEventListenerObject;
  capture: boolean;
  once: boolean;
}

/** Returns the milliseconds since the run began; replaced before any user code runs. */
let now: () => number = () => 0;

/** Event without the element tree of browsers. */
export class PlainEvent implements Event {
  readonly type: string;
  readonly bubbles: boolean;
  readonly cancelable: boolean;
  readonly composed: boolean;
  readonly isTrusted = false;
  readonly timeStamp = now();
  target: EventTarget | null = null;
  currentTarget: EventTarget | null = null;
  defaultPrevented = false;
  /** Set by `stopImmediatePropagation`. */
  isStopped = false;

  constructor(type: string, { bubbles, cancelable, composed }: EventInit = {}) {
    this.type = String(type);
    this.bubbles = bubbles === true;
    this.cancelable = cancelable === true;
    this.composed = composed === true;
  }

  preventDefault(): void {
    if (this.cancelable) this.defaultPrevented = true;
  }

  /** Does nothing, because there is no other target. */
  stopPropagation(): void {}

  stopImmediatePropagation(): void {
    this.isStopped = true;
  }
}

export class PlainCustomEvent<T> extends PlainEvent implements CustomEvent<T> {
  readonly detail: T;

  constructor(type: string, init: CustomEventInit<T> = {}) {
    super(type, init);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- null when nothing is given, as the standard has it
    this.detail = init.detail ?? (null as T);
  }
}

/** Reports the error of a listener, which ends the run; the other listeners are still called. */
type ReportError = (error: unknown) => void;
let reportError: ReportError = () => {};
export function connectEvents(ends: { report: ReportError; now: () => number }): void {
  reportError = ends.report;
  now = ends.now;
}

export class PlainEventTarget implements EventTarget {
  readonly #listeners = new Map<string, Listening[]>();

  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: AddEventListenerOptions | boolean,
  ): void {
    const { once = false, signal } = typeof options === 'object' ? options : {};
    const capture = isCapturing(options);
    const listening = this.#listeners.get(String(type)) ?? [];
    if (listener === null || signal?.aborted || listening.some(isOf(listener, capture))) return;
    this.#listeners.set(String(type), [...listening, { listener, capture, once }]);
    signal?.addEventListener('abort', () => this.removeEventListener(type, listener, capture), {
      once: true,
    });
  }

  removeEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: EventListenerOptions | boolean,
  ): void {
    const isRemoved = isOf(listener, isCapturing(options));
    const listening = this.#listeners.get(String(type)) ?? [];
    this.#listeners.set(
      String(type),
      listening.filter((known) => !isRemoved(known)),
    );
  }

  dispatchEvent(event: Event): boolean {
    if (event instanceof PlainEvent) event.target = event.currentTarget = this;
    const listening = this.#listeners.get(event.type) ?? [];
    for (const known of listening) {
      if (event instanceof PlainEvent && event.isStopped) break;
      // Skips a listener that an earlier one has removed.
      if (this.#listeners.get(event.type)?.includes(known) !== true) continue;
      if (known.once) this.removeEventListener(event.type, known.listener, known.capture);
      call(this, known.listener, event);
    }
    if (event instanceof PlainEvent) event.currentTarget = null;
    return !event.defaultPrevented;
  }
}

const isCapturing = (options: EventListenerOptions | boolean | undefined): boolean =>
  typeof options === 'object' ? options.capture === true : options === true;

const isOf =
  (listener: EventListenerOrEventListenerObject | null, capture: boolean) =>
  (known: Listening): boolean =>
    known.listener === listener && known.capture === capture;

function call(target: EventTarget, listener: EventListenerOrEventListenerObject, event: Event): void {
  try {
    if (typeof listener === 'function') listener.call(target, event);
    else listener.handleEvent(event);
  } catch (error) {
    reportError(error);
  }
}

const constructing = Symbol('constructing');
/** Functions by which a controller aborts its signal, kept here so that a signal by itself can't be aborted. */
const abortOf = new WeakMap<AbortSignal, (reason: unknown) => void>();

class PlainAbortSignal extends PlainEventTarget implements AbortSignal {
  onabort: ((this: AbortSignal, event: Event) => void) | null = null;
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

/** Creates `AbortController` and `AbortSignal`. `later` schedules a callback without keeping the run alive. */
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

/** Renames a class to the name that users know. */
export function renamed<T extends abstract new (...args: never[]) => unknown>(
  constructor: T,
  name: string,
): T {
  Object.defineProperty(constructor, 'name', { value: name });
  Object.defineProperty(constructor.prototype, Symbol.toStringTag, { value: name, configurable: true });
  return constructor;
}
