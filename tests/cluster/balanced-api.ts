import { setTimeout as pause } from 'node:timers/promises';

import type { SeededRandom } from '../support/seeded-random.ts';

export interface Reply {
  readonly status: number;
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly etag: string;
}

interface Attempt {
  /** Address of the server to call. Default: any server. */
  url?: string;
  token?: string;
  headers?: Readonly<Record<string, string>>;
}

/** Statuses after which a proxy or a client retries. */
const notNow: readonly number[] = [429, 502, 503, 507];
const timeoutMs = 15_000;

const isNoted = (method: string, path: string): boolean =>
  method !== 'GET' && !/\/(launch|automationLogs|input$|lease$)/.test(path);

/** Sends each attempt of a request to a random server; a caller without a reply retries. */
export class BalancedApi {
  readonly urls: readonly string[];
  readonly token: string;
  readonly #random: SeededRandom;
  /** Acknowledged changes by request ID; launches and touches are checked in other ways. */
  readonly changed = new Map<string, string>();
  /** Attempts that got no reply, or a reply that asks to retry. */
  readonly retried: string[] = [];

  constructor(urls: readonly string[], token: string, random: SeededRandom) {
    this.urls = urls;
    this.token = token;
    this.#random = random;
  }

  /** Sends a request once. Undefined: no reply, or the server is temporarily unable. */
  async attempt(
    method: string,
    path: string,
    body?: unknown,
    { url = this.#random.pick(this.urls), token = this.token, headers = {} }: Attempt = {},
  ): Promise<Reply | undefined> {
    try {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        body: body === undefined ? null : JSON.stringify(body),
        signal: AbortSignal.timeout(timeoutMs),
      });
      const text = await response.text();
      const { status } = response;
      if (notNow.includes(status)) return this.#retry(`${method} ${path} at ${url}: ${status} ${text}`);
      // Replies of the API are objects; an error is returned as it is.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      const parsed = JSON.parse(text) as Reply['body'];
      const requestId = response.headers.get('x-request-id') ?? '';
      if (response.ok && isNoted(method, path)) this.changed.set(requestId, `${method} ${path}`);
      return { status, text, body: parsed, etag: response.headers.get('etag') ?? '' };
    } catch (error) {
      return this.#retry(`${method} ${path} at ${url}: ${String(error)}`);
    }
  }

  /** Retries until there is a reply. */
  async call(method: string, path: string, body?: unknown): Promise<Reply> {
    for (;;) {
      const reply = await this.attempt(method, path, body);
      if (reply !== undefined) return reply;
      await pause(100);
    }
  }

  #retry(attempt: string): undefined {
    this.retried.push(attempt);
  }
}
