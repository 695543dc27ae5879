/* oxlint-disable no-var -- as in the standard library, so that `globalThis` has them */
/**
 * Globals of automations that browsers and Node have too. They follow the standards of the same names;
 * omissions are documented here.
 */
declare var console: Console;

/** Prints the text that Node's console prints, as entries of the run's log. `info` and `debug` count as `log`. */
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
  /** Does nothing: a log is not cleared. */
  clear(): void;
}

/**
 * Starts a timer. At most 10,000 timers may wait at a time. A run does not end while one waits. Returns a
 * number, which `clearTimeout` takes.
 */
declare function setTimeout<Args extends unknown[]>(
  callback: (...args: Args) => void,
  delayMs?: number,
  ...args: Args
): number;
// oxlint-disable-next-line typescript/no-explicit-any -- takes what `lib.dom` takes, such as the `resolve` of a promise
declare function setTimeout(callback: (...args: any[]) => void, delayMs?: number, ...args: any[]): number;
declare function setInterval<Args extends unknown[]>(
  callback: (...args: Args) => void,
  delayMs?: number,
  ...args: Args
): number;
// oxlint-disable-next-line typescript/no-explicit-any -- as above
declare function setInterval(callback: (...args: any[]) => void, delayMs?: number, ...args: any[]): number;
declare function setImmediate<Args extends unknown[]>(
  callback: (...args: Args) => void,
  ...args: Args
): number;
// oxlint-disable-next-line typescript/no-explicit-any -- as above
declare function setImmediate(callback: (...args: any[]) => void, ...args: any[]): number;
declare function clearTimeout(id: number | null | undefined): void;
declare function clearInterval(id: number | null | undefined): void;
declare function clearImmediate(id: number | null | undefined): void;
declare function queueMicrotask(callback: () => void): void;

/** Types in code that was written for Node. */
declare namespace NodeJS {
  type Timeout = number;
  type Timer = number;
  type Immediate = number;
  interface ErrnoException extends Error {
    code?: string;
    errno?: number;
    path?: string;
    syscall?: string;
  }
}

/** Members that V8 adds to the language. */
interface ErrorConstructor {
  /** Sets `stack` of `target` to the calls above `below`. */
  // oxlint-disable-next-line typescript/no-unsafe-function-type -- as in Node's types, for `this.constructor`
  captureStackTrace(target: object, below?: Function): void;
  /** Number of calls that the stack of an error shows. Default 10. */
  stackTraceLimit: number;
}

/** Objects that `structuredClone` moves instead of copying them. */
type Transferable = ArrayBuffer;
interface StructuredSerializeOptions {
  transfer?: Transferable[];
}
// oxlint-disable-next-line typescript/no-explicit-any -- as in the standard library's types
declare function structuredClone<T = any>(value: T, options?: StructuredSerializeOptions): T;
declare function atob(base64: string): string;
declare function btoa(bytes: string): string;

interface Performance {
  /** Milliseconds since the run began, with fractions. */
  now(): number;
  /** Time at which the run began, in epoch milliseconds. */
  readonly timeOrigin: number;
}
declare var performance: Performance;

interface TextEncoderEncodeIntoResult {
  read: number;
  written: number;
}
interface TextEncoder {
  readonly encoding: 'utf-8';
  encode(text?: string): Uint8Array<ArrayBuffer>;
  encodeInto(text: string, target: Uint8Array): TextEncoderEncodeIntoResult;
}
declare var TextEncoder: { new (): TextEncoder };

interface TextDecoderOptions {
  fatal?: boolean;
  ignoreBOM?: boolean;
}
interface TextDecodeOptions {
  stream?: boolean;
}
interface TextDecoder {
  readonly encoding: string;
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  decode(bytes?: BufferSource | null, options?: TextDecodeOptions): string;
}
/** Encodings: UTF-8, UTF-16 and the one-byte encodings. */
declare var TextDecoder: {
  new (encoding?: string, options?: TextDecoderOptions): TextDecoder;
};

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
declare var URL: {
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
declare var URLSearchParams: {
  new (
    init?: string | URLSearchParams | Record<string, string> | Iterable<readonly [string, string]>,
  ): URLSearchParams;
};
