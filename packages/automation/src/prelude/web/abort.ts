import { PlainEvent, PlainEventTarget } from './event-target.ts';

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
