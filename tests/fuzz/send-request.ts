import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

import type { FuzzRequest } from './api-requests.ts';

export interface FuzzReply {
  /** HTTP status; 0 if the connection ended without a reply. */
  status: number;
  headers: Headers;
  text: string;
}

/** Maximum time of a reply in ms; no request of the fuzzer may take longer. */
const answerLimitMs = 60_000;

/** Sends unmodified requests over persistent connections. */
export class Sender {
  readonly #agent: Agent;
  readonly #url: URL;

  constructor(url: string, atOnce: number) {
    this.#url = new URL(url);
    this.#agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  }

  send({ method, path, headers, body }: FuzzRequest, token: string | null): Promise<FuzzReply> {
    const { promise, resolve } = Promise.withResolvers<FuzzReply>();
    const fail = (error: Error): void => resolve({ status: 0, headers: new Headers(), text: error.message });
    const sent = httpRequest({
      agent: this.#agent,
      host: this.#url.hostname,
      port: this.#url.port,
      method,
      path,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === null ? {} : { 'content-length': body.length }),
        ...headers,
      },
    });
    sent.setTimeout(answerLimitMs, () =>
      sent.destroy(new Error(`no answer within ${answerLimitMs / 1000} s`)),
    );
    sent.on('error', fail);
    sent.on('response', (response) => void read(response).then(resolve, fail));
    sent.end(body ?? undefined);
    return promise;
  }

  close(): void {
    this.#agent.destroy();
  }
}

async function read(response: IncomingMessage): Promise<FuzzReply> {
  const status = response.statusCode ?? 0;
  const headers = new Headers(
    Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]),
  );
  // A stream never ends by itself.
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (isStream) response.destroy();
  return { status, headers, text: isStream ? '' : await text(response) };
}
