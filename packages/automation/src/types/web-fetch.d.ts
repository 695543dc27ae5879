/* oxlint-disable no-var -- as in the standard library, so that `globalThis` has them */
/**
 * Sends a request by HTTP or HTTPS. Bodies are read whole, up to 50 MB, before the call resolves. At most 64
 * requests at a time.
 */
declare function fetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response>;

type BufferSource = ArrayBufferView | ArrayBuffer;
type RequestInfo = Request | string;
/** A stream cannot be sent: give its bytes. */
type BodyInit = string | BufferSource | Blob | FormData | URLSearchParams;
type HeadersInit = Headers | Record<string, string> | Iterable<readonly [string, string]>;
type RequestRedirect = 'follow' | 'manual' | 'error';

interface RequestInit {
  method?: string;
  headers?: HeadersInit;
  body?: BodyInit | null;
  /** At most 20 redirects are followed. Default `follow`. */
  redirect?: RequestRedirect;
  signal?: AbortSignal | null;
  /** Changes nothing, as there is no cache. */
  cache?: 'default' | 'force-cache' | 'no-cache' | 'no-store' | 'only-if-cached' | 'reload';
  /** Changes nothing: cookies are neither kept nor sent; use the header `Cookie`. */
  credentials?: 'include' | 'omit' | 'same-origin';
  /** Changes nothing, as a run has no page of its own. */
  keepalive?: boolean;
  /** Changes nothing: a run may ask every origin. */
  mode?: 'cors' | 'navigate' | 'no-cors' | 'same-origin';
  /** Changes nothing: use the header `Referer`. */
  referrer?: string;
}

interface Body {
  /** The bytes in pieces, for `for await` and `getReader()`; null without a body. */
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>> | null;
  readonly bodyUsed: boolean;
  text(): Promise<string>;
  // oxlint-disable-next-line typescript/no-explicit-any -- as in the standard library's types
  json(): Promise<any>;
  arrayBuffer(): Promise<ArrayBuffer>;
  blob(): Promise<Blob>;
  bytes(): Promise<Uint8Array<ArrayBuffer>>;
  /** Reads `multipart/form-data` and `application/x-www-form-urlencoded`. */
  formData(): Promise<FormData>;
}

interface Request extends Body {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly redirect: RequestRedirect;
  readonly signal: AbortSignal;
  clone(): Request;
}
declare var Request: { new (input: RequestInfo | URL, init?: RequestInit): Request };

interface Response extends Body {
  readonly url: string;
  readonly status: number;
  readonly statusText: string;
  /** True for status 200 to 299. */
  readonly ok: boolean;
  readonly redirected: boolean;
  /** `basic` for a response of `fetch`. */
  readonly type: ResponseType;
  readonly headers: Headers;
  clone(): Response;
}
type ResponseType = 'basic' | 'default' | 'error';
interface ResponseInit {
  status?: number;
  statusText?: string;
  headers?: HeadersInit;
}
declare var Response: {
  new (body?: BodyInit | null, init?: ResponseInit): Response;
  // oxlint-disable-next-line typescript/no-explicit-any -- as in the standard library's types
  json(value: any, init?: ResponseInit): Response;
  error(): Response;
  redirect(url: string | URL, status?: number): Response;
};

interface Headers {
  append(name: string, value: string): void;
  delete(name: string): void;
  get(name: string): string | null;
  getSetCookie(): string[];
  has(name: string): boolean;
  set(name: string, value: string): void;
  // oxlint-disable-next-line typescript/no-explicit-any -- as in the standard library's types
  forEach(callback: (value: string, name: string, headers: Headers) => void, thisArg?: any): void;
  entries(): IterableIterator<[string, string]>;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
}
declare var Headers: { new (init?: HeadersInit): Headers };

type BlobPart = string | BufferSource | Blob;
interface BlobPropertyBag {
  type?: string;
  /** Line ends of texts. Default `transparent`: unchanged. */
  endings?: 'native' | 'transparent';
}
/** Bytes with a media type. They count against the run's memory. */
interface Blob {
  readonly size: number;
  readonly type: string;
  arrayBuffer(): Promise<ArrayBuffer>;
  bytes(): Promise<Uint8Array<ArrayBuffer>>;
  slice(start?: number, end?: number, contentType?: string): Blob;
  stream(): ReadableStream<Uint8Array<ArrayBuffer>>;
  text(): Promise<string>;
}
declare var Blob: { new (blobParts?: Iterable<BlobPart>, options?: BlobPropertyBag): Blob };

interface FilePropertyBag extends BlobPropertyBag {
  lastModified?: number;
}
interface File extends Blob {
  readonly name: string;
  /** Epoch milliseconds. */
  readonly lastModified: number;
}
/** A blob with a name, for forms. `agent.files` has the files of the phone. */
declare var File: { new (fileBits: Iterable<BlobPart>, fileName: string, options?: FilePropertyBag): File };

type FormDataEntryValue = File | string;
interface FormData {
  append(name: string, value: string): void;
  append(name: string, blobValue: Blob, filename?: string): void;
  delete(name: string): void;
  get(name: string): FormDataEntryValue | null;
  getAll(name: string): FormDataEntryValue[];
  has(name: string): boolean;
  set(name: string, value: string): void;
  set(name: string, blobValue: Blob, filename?: string): void;
  forEach(
    callback: (value: FormDataEntryValue, name: string, form: FormData) => void,
    // oxlint-disable-next-line typescript/no-explicit-any -- as in the standard library's types
    thisArg?: any,
  ): void;
  entries(): IterableIterator<[string, FormDataEntryValue]>;
  keys(): IterableIterator<string>;
  values(): IterableIterator<FormDataEntryValue>;
  [Symbol.iterator](): IterableIterator<[string, FormDataEntryValue]>;
}
declare var FormData: { new (): FormData };

type ReadableStreamReadResult<T> = { done: false; value: T } | { done: true; value: T | undefined };
interface ReadableStreamDefaultReader<T> {
  readonly closed: Promise<void>;
  read(): Promise<ReadableStreamReadResult<T>>;
  releaseLock(): void;
  // oxlint-disable-next-line typescript/no-explicit-any -- as in the standard library's types
  cancel(reason?: any): Promise<void>;
}
/** The bytes of a body or a blob, in pieces of at most 64 KB. All of them are in memory already. */
// oxlint-disable-next-line typescript/no-explicit-any -- as in the standard library's types
interface ReadableStream<T = any> {
  readonly locked: boolean;
  getReader(): ReadableStreamDefaultReader<T>;
  // oxlint-disable-next-line typescript/no-explicit-any -- as in the standard library's types
  cancel(reason?: any): Promise<void>;
  [Symbol.asyncIterator](): AsyncIterableIterator<T>;
}
