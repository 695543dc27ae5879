import type { Api } from '../http/api.ts';

/** Target of an attack: an ordinary user of the service with phones at a host and a project. */
export interface Ground {
  api: Api;
  /** Creates a token with other permissions for the same user. */
  createToken: (fields: object) => Promise<Api>;
  deviceIds: readonly string[];
  project: { id: string; cloneUrl: string };
  /** An empty folder. */
  folder: string;
}

export interface Attack {
  /** Name on the command line. */
  name: string;
  attack: string;
  /** Result at the time of the report; times are the latencies of another user's requests. */
  before: string;
  /** Runs the attack repeatedly until `signal` aborts, which it may ignore. Returns the result in a few words. */
  play(ground: Ground, signal: AbortSignal): Promise<string>;
}

/** Sends a request. Returns the status and, on a refusal, the error code. */
export async function send(
  api: Api,
  method: string,
  path: string,
  { body, signal }: { body?: string | undefined; signal?: AbortSignal | undefined } = {},
): Promise<string> {
  const headers = { authorization: `Bearer ${api.token}`, 'content-type': 'application/json' };
  const init = { method, headers, ...(body !== undefined && { body }), ...(signal && { signal }) };
  const reply = await fetch(new URL(path, api.url), init);
  const code = /"code":"(\w+)"/.exec(await reply.text())?.[1];
  return code === undefined ? String(reply.status) : `${reply.status} ${code}`;
}

/** Counts replies, such as `200 (2 times), 429 (3 times)`. */
export function counted(answers: readonly string[]): string {
  const groups = Map.groupBy(answers, (answer) => answer);
  return [...groups].map(([answer, { length }]) => `${answer} (${length} times)`).join(', ');
}

/**
 * Keeps a number of requests in flight, each repeated until `signal` aborts. A refusal is followed by a short pause,
 * as in any client.
 */
export async function flood(
  atOnce: number,
  signal: AbortSignal,
  act: (turn: number) => Promise<string>,
): Promise<string> {
  const answers: string[] = [];
  let turn = 0;
  const again = async (): Promise<void> => {
    while (!signal.aborted) {
      const answer = await act((turn += 1)).catch(() => 'no answer');
      if (!signal.aborted) answers.push(answer);
      if (/^[45]|no/.test(answer)) await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, again));
  return counted(answers);
}
