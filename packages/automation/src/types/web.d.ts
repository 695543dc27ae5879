/**
 * The globals of automations that stand in browsers and Node too. They follow the standards of the same names;
 * what is left out is said here.
 */
declare const console: Console;

/** Prints what Node's console prints, as entries of the run's log. `info` and `debug` count as `log`. */
interface Console {
  log(...data: unknown[]): void;
  info(...data: unknown[]): void;
  debug(...data: unknown[]): void;
  warn(...data: unknown[]): void;
  error(...data: unknown[]): void;
  trace(...data: unknown[]): void;
  dir(value: unknown, options?: { depth?: number | null; showHidden?: boolean }): void;
  dirxml(...data: unknown[]): void;
  table(data: unknown, columns?: readonly string[]): void;
  assert(condition?: unknown, ...data: unknown[]): void;
  count(label?: string): void;
  countReset(label?: string): void;
  time(label?: string): void;
  timeLog(label?: string, ...data: unknown[]): void;
  timeEnd(label?: string): void;
  group(...data: unknown[]): void;
  groupCollapsed(...data: unknown[]): void;
  groupEnd(): void;
}

/** At most 10,000 timers may wait at a time. A run does not end while one waits. */
declare function setTimeout<Args extends unknown[]>(
  callback: (...args: Args) => void,
  delayMs?: number,
  ...args: Args
): number;
declare function setInterval<Args extends unknown[]>(
  callback: (...args: Args) => void,
  delayMs?: number,
  ...args: Args
): number;
declare function setImmediate<Args extends unknown[]>(
  callback: (...args: Args) => void,
  ...args: Args
): number;
declare function clearTimeout(id: number | undefined): void;
declare function clearInterval(id: number | undefined): void;
declare function clearImmediate(id: number | undefined): void;
declare function queueMicrotask(callback: () => void): void;

declare function structuredClone<T>(value: T): T;
declare function atob(base64: string): string;
declare function btoa(bytes: string): string;

declare const performance: {
  /** Milliseconds since the run began, with fractions. */
  now(): number;
  /** When the run began, epoch milliseconds. */
  readonly timeOrigin: number;
};

declare const crypto: {
  randomUUID(): string;
  /** Fills an array of integers of at most 65,536 bytes. */
  getRandomValues<T extends ArrayBufferView>(array: T): T;
};

/** HTTP and HTTPS. Bodies are read whole, up to 50 MB; there are no streams. At most 64 requests at a time. */
declare function fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;

type BodyInit = string | ArrayBuffer | ArrayBufferView | URLSearchParams;
type HeadersInit = Headers | Record<string, string> | Iterable<readonly [string, string]>;

interface RequestInit {
  method?: string;
  headers?: HeadersInit;
  body?: BodyInit | null;
  /** At most 20 redirects are followed. Default `follow`. */
  redirect?: 'follow' | 'manual' | 'error';
  signal?: AbortSignal | null;
}

interface Body {
  readonly bodyUsed: boolean;
  text(): Promise<string>;
  // oxlint-disable-next-line typescript/no-explicit-any -- as in the standard library's types
  json(): Promise<any>;
  arrayBuffer(): Promise<ArrayBuffer>;
  bytes(): Promise<Uint8Array>;
}

interface Request extends Body {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly redirect: 'follow' | 'manual' | 'error';
  readonly signal: AbortSignal;
  clone(): Request;
}
declare const Request: { new (input: string | URL | Request, init?: RequestInit): Request };

interface Response extends Body {
  readonly url: string;
  readonly status: number;
  readonly statusText: string;
  /** True for status 200 to 299. */
  readonly ok: boolean;
  readonly redirected: boolean;
  readonly headers: Headers;
  clone(): Response;
}
interface ResponseInit {
  status?: number;
  statusText?: string;
  headers?: HeadersInit;
}
declare const Response: {
  new (body?: BodyInit | null, init?: ResponseInit): Response;
  json(value: unknown, init?: ResponseInit): Response;
  error(): Response;
};

interface Headers {
  append(name: string, value: string): void;
  delete(name: string): void;
  get(name: string): string | null;
  getSetCookie(): string[];
  has(name: string): boolean;
  set(name: string, value: string): void;
  forEach(callback: (value: string, name: string, headers: Headers) => void): void;
  entries(): IterableIterator<[string, string]>;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
}
declare const Headers: { new (init?: HeadersInit): Headers };

interface URL {
  hash: string;
  host: string;
  hostname: string;
  href: string;
  readonly origin: string;
  password: string;
  pathname: string;
  port: string;
  protocol: string;
  search: string;
  readonly searchParams: URLSearchParams;
  username: string;
  toString(): string;
  toJSON(): string;
}
declare const URL: {
  new (url: string | URL, base?: string | URL): URL;
  canParse(url: string | URL, base?: string | URL): boolean;
  parse(url: string | URL, base?: string | URL): URL | null;
};

interface URLSearchParams {
  readonly size: number;
  append(name: string, value: string): void;
  delete(name: string, value?: string): void;
  get(name: string): string | null;
  getAll(name: string): string[];
  has(name: string, value?: string): boolean;
  set(name: string, value: string): void;
  sort(): void;
  toString(): string;
  forEach(callback: (value: string, name: string, params: URLSearchParams) => void): void;
  entries(): IterableIterator<[string, string]>;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
}
declare const URLSearchParams: {
  new (
    init?: string | URLSearchParams | Record<string, string> | Iterable<readonly [string, string]>,
  ): URLSearchParams;
};

interface TextEncoder {
  readonly encoding: 'utf-8';
  encode(text?: string): Uint8Array<ArrayBuffer>;
  encodeInto(text: string, target: Uint8Array): { read: number; written: number };
}
declare const TextEncoder: { new (): TextEncoder };

interface TextDecoder {
  readonly encoding: string;
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  decode(bytes?: ArrayBuffer | ArrayBufferView, options?: { stream?: boolean }): string;
}
/** Encodings: UTF-8, UTF-16 and the one-byte encodings. */
declare const TextDecoder: {
  new (encoding?: string, options?: { fatal?: boolean; ignoreBOM?: boolean }): TextDecoder;
};

interface DOMException extends Error {
  readonly code: number;
}
declare const DOMException: { new (message?: string, name?: string): DOMException };

interface Event {
  readonly type: string;
  readonly target: EventTarget | null;
  readonly defaultPrevented: boolean;
  preventDefault(): void;
  stopImmediatePropagation(): void;
}
declare const Event: { new (type: string, init?: { cancelable?: boolean }): Event };

type EventListener = ((event: Event) => void) | { handleEvent(event: Event): void };
interface EventTarget {
  addEventListener(
    type: string,
    listener: EventListener | null,
    options?: { once?: boolean; signal?: AbortSignal } | boolean,
  ): void;
  removeEventListener(type: string, listener: EventListener | null): void;
  /** False when a listener called `preventDefault`. */
  dispatchEvent(event: Event): boolean;
}
declare const EventTarget: { new (): EventTarget };

interface AbortSignal extends EventTarget {
  readonly aborted: boolean;
  // oxlint-disable-next-line typescript/no-explicit-any -- as in the standard library's types
  readonly reason: any;
  onabort: ((event: Event) => void) | null;
  throwIfAborted(): void;
}
declare const AbortSignal: {
  abort(reason?: unknown): AbortSignal;
  timeout(durationMs: number): AbortSignal;
  any(signals: Iterable<AbortSignal>): AbortSignal;
};

interface AbortController {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}
declare const AbortController: { new (): AbortController };
