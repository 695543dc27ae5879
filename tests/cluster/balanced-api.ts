import type { SeededRandom } from '../support/seeded-random.ts';

export interface Reply {
  readonly status: number;
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Each attempt of a request goes to one of the servers, by chance; who gets no answer asks again. */
export class BalancedApi {
  readonly #urls: readonly string[];
  readonly #token: string;
  readonly #random: SeededRandom;
  /** Attempts that had no answer, or one that says to try again. */
  retries = 0;

  constructor(urls: readonly string[], token: string, random: SeededRandom) {
    this.#urls = urls;
    this.#token = token;
    this.#random = random;
  }

  /** Undefined: there was no answer, or the server can't just now. */
  async attempt(
    method: string,
    path: string,
    body?: unknown,
    timeoutMs = 15_000,
  ): Promise<Reply | undefined> {
    try {
      const response = await fetch(`${this.#random.pick(this.#urls)}${path}`, {
        method,
        headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' },
        body: body === undefined ? null : JSON.stringify(body),
        signal: AbortSignal.timeout(timeoutMs),
      });
      const text = await response.text();
      if ([429, 500, 502, 503, 507].includes(response.status)) {
        this.retries += 1;
        return response.status === 500 ? { status: 500, text, body: {} } : undefined;
      }
      // Replies of the API are objects.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      return { status: response.status, text, body: JSON.parse(text) as Reply['body'] };
    } catch {
      this.retries += 1;
      return undefined;
    }
  }

  /** Asks again until there is an answer. */
  async call(method: string, path: string, body?: unknown): Promise<Reply> {
    for (;;) {
      const reply = await this.attempt(method, path, body);
      if (reply !== undefined) return reply;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
