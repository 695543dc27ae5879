import { setTimeout as sleep } from 'node:timers/promises';
import { Type } from 'typebox';

import { answerParent, command } from '../harness/answer-parent.ts';
import { jsonBody, KeepAliveClient, requestBytes } from '../http/keep-alive-client.ts';
import { Pace } from '../http/pace.ts';
import { send } from '../http/send.ts';

const Address = { url: Type.String(), token: Type.String() };

/** Clients that stay connected from round to round, by server. */
const clients = new Map<string, KeepAliveClient[]>();
let pace: Pace | undefined;

async function clientsOf(url: string, count: number): Promise<KeepAliveClient[]> {
  const { origin } = new URL(url);
  const open = clients.get(origin) ?? [];
  clients.set(origin, open);
  while (open.length < count) open.push(await KeepAliveClient.open(url));
  return open.slice(0, count);
}

answerParent({
  /** Repeats the same request on every connection, each time after its reply. */
  repeat: command(
    Type.Object({
      ...Address,
      body: Type.Unknown(),
      connections: Type.Integer(),
      durationMs: Type.Number(),
    }),
    async ({ url, token, body, connections, durationMs }) => {
      const open = await clientsOf(url, connections);
      const bytes = requestBytes('POST', { url, token }, jsonBody(body));
      const startedAt = performance.now();
      let answered = 0;
      const poll = async (client: KeepAliveClient): Promise<void> => {
        while (performance.now() - startedAt < durationMs) {
          await send(client, bytes);
          answered += 1;
        }
      };
      await Promise.all(open.map(poll));
      return { count: answered, elapsedMs: performance.now() - startedAt };
    },
  ),
  /** Sends requests one by one on one connection. Returns the latencies in ms. */
  sequence: command(
    Type.Object({
      ...Address,
      requests: Type.Array(
        Type.Object({ method: Type.String(), path: Type.String(), body: Type.Optional(Type.Unknown()) }),
      ),
    }),
    async ({ url, token, requests }) => {
      const [client] = await clientsOf(url, 1);
      if (client === undefined) throw new Error('there is no connection');
      const all = requests.map(({ method, path, body }) =>
        requestBytes(
          method,
          { url: new URL(path, url).href, token },
          body === undefined ? undefined : jsonBody(body),
        ),
      );
      const tookMs: number[] = [];
      for (const bytes of all) tookMs.push(await send(client, bytes));
      return tookMs;
    },
  ),
  /**
   * Simulates one agent per request: each repeats its own every `everyMs`, as users' programs do, and reads the
   * entire reply. Returns the latencies in ms.
   */
  pacedAgents: command(
    Type.Object({
      ...Address,
      requests: Type.Array(Type.Object({ path: Type.String(), body: Type.Optional(Type.Unknown()) })),
      everyMs: Type.Number(),
      durationMs: Type.Number(),
    }),
    async ({ url, token, requests, everyMs, durationMs }) => {
      const tookMs: number[] = [];
      const until = performance.now() + durationMs;
      const agent = async (
        index: number,
        { path, body }: { path: string; body?: unknown },
      ): Promise<void> => {
        await sleep((index * everyMs) / requests.length);
        for (let next = performance.now(); next < until;) {
          tookMs.push(await fetchWhole(new URL(path, url), token, body));
          next += everyMs;
          await sleep(Math.max(0, next - performance.now()));
        }
      };
      await Promise.all(requests.map((request, index) => agent(index, request)));
      return tookMs;
    },
  ),
  /** Starts to request `url` at a rate per second. */
  startPace: command(Type.Object({ ...Address, perSecond: Type.Number() }), ({ url, token, perSecond }) => {
    pace = new Pace(url, requestBytes('GET', { url, token }), perSecond);
  }),
  /** Returns the latencies in ms. */
  stopPace: () => pace?.stop(),
});

async function fetchWhole(url: URL, token: string, body: unknown): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok || text.includes('"isError":true')) throw new Error(`${response.status}: ${text}`);
  return performance.now() - startedAt;
}
