import { withoutPrelude } from '../../caller-stack.ts';
import { parse, type FetchHead, type Port, fromByteString, toByteString } from '../port.ts';
import { PlainRequest, PlainResponse } from './http-messages.ts';

interface Waiting {
  resolve: (response: Response) => void;
  reject: (error: unknown) => void;
  /** Error created at the call, so that its stack is the caller's. */
  error: TypeError;
}

/** Reply of the child to a fetch request. */
type Fetched = { ok: true; head: FetchHead } | { ok: false; message: string };

/** Creates `fetch` over the port; the child makes the request. */
export function createFetch(port: Port) {
  const waiting = new Map<number, Waiting>();
  let lastId = 0;

  const start = (request: PlainRequest, entry: Waiting): void => {
    const id = ++lastId;
    const { url, method, redirect, signal } = request;
    const bytes = request.outgoingBytes();
    const order = { id, url, method, headers: [...request.headers], hasBody: bytes !== undefined, redirect };
    const refused = port.ask('fetch', order, bytes && toByteString(bytes));
    if (refused !== undefined) throw new RangeError(String(refused));
    waiting.set(id, entry);
    signal.addEventListener('abort', () => {
      if (!waiting.delete(id)) return;
      port.ask('abortFetch', { id });
      entry.reject(signal.reason);
    });
  };

  return {
    fetch: async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
      const request = new PlainRequest(input, init);
      request.signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<Response>();
      start(request, { resolve, reject, error: new TypeError('fetch failed') });
      return promise;
    },
    /** Called by the child with the response and its body as a byte string. */
    settle(id: number, json: string, body: string): void {
      const entry = waiting.get(id);
      if (entry === undefined) return;
      waiting.delete(id);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the child wrote it
      const fetched = parse(json) as Fetched;
      if (fetched.ok) entry.resolve(responseOf(fetched.head, body));
      else entry.reject(failedWith(entry.error, fetched.message));
    },
  };
}

function responseOf({ status, statusText, headers, url, redirected }: FetchHead, body: string): Response {
  return new PlainResponse(fromByteString(body), { status, statusText, headers }, { url, redirected });
}

function failedWith(error: TypeError, message: string): TypeError {
  const frames = withoutPrelude(String(error.stack)).split('\n').slice(1);
  const define = (name: string, value: string): unknown =>
    Object.defineProperty(error, name, { value, configurable: true, writable: true });
  define('message', message);
  define('stack', [`TypeError: ${message}`, ...frames].join('\n'));
  return error;
}
