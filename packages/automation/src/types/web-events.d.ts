/* oxlint-disable no-var -- as in the standard library, so that `globalThis` has them */
interface DOMException extends Error {
  readonly code: number;
}
declare var DOMException: { new (message?: string, name?: string): DOMException };

interface EventInit {
  bubbles?: boolean;
  cancelable?: boolean;
  composed?: boolean;
}

/** An event of one target: there is no tree for it to bubble through. */
interface Event {
  readonly type: string;
  readonly target: EventTarget | null;
  readonly currentTarget: EventTarget | null;
  readonly bubbles: boolean;
  readonly cancelable: boolean;
  readonly composed: boolean;
  readonly defaultPrevented: boolean;
  readonly isTrusted: boolean;
  /** Milliseconds since the run began. */
  readonly timeStamp: number;
  preventDefault(): void;
  stopPropagation(): void;
  stopImmediatePropagation(): void;
}
declare var Event: { new (type: string, init?: EventInit): Event };

interface CustomEventInit<T = unknown> extends EventInit {
  detail?: T;
}
// oxlint-disable-next-line typescript/no-explicit-any -- as in the standard library's types
interface CustomEvent<T = any> extends Event {
  readonly detail: T;
}
declare var CustomEvent: { new <T>(type: string, init?: CustomEventInit<T>): CustomEvent<T> };

interface EventListener {
  (event: Event): void;
}
interface EventListenerObject {
  handleEvent(event: Event): void;
}
type EventListenerOrEventListenerObject = EventListener | EventListenerObject;

interface EventListenerOptions {
  capture?: boolean;
}
interface AddEventListenerOptions extends EventListenerOptions {
  once?: boolean;
  passive?: boolean;
  signal?: AbortSignal;
}

interface EventTarget {
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: AddEventListenerOptions | boolean,
  ): void;
  removeEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: EventListenerOptions | boolean,
  ): void;
  /** False when a listener called `preventDefault`. */
  dispatchEvent(event: Event): boolean;
}
declare var EventTarget: { new (): EventTarget };

interface AbortSignal extends EventTarget {
  readonly aborted: boolean;
  // oxlint-disable-next-line typescript/no-explicit-any -- as in the standard library's types
  readonly reason: any;
  // oxlint-disable-next-line typescript/no-explicit-any -- as in the standard library's types
  onabort: ((this: AbortSignal, event: Event) => any) | null;
  throwIfAborted(): void;
}
declare var AbortSignal: {
  // oxlint-disable-next-line typescript/no-explicit-any -- as in the standard library's types
  abort(reason?: any): AbortSignal;
  timeout(durationMs: number): AbortSignal;
  any(signals: Iterable<AbortSignal>): AbortSignal;
};

interface AbortController {
  readonly signal: AbortSignal;
  // oxlint-disable-next-line typescript/no-explicit-any -- as in the standard library's types
  abort(reason?: any): void;
}
declare var AbortController: { new (): AbortController };
