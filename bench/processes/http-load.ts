import { Type } from 'typebox';

import { answerParent, command } from '../harness/answer-parent.ts';
import { KeepAliveClient, postBytes } from '../http/keep-alive-client.ts';

const Address = { url: Type.String(), token: Type.String() };

/** Clients that stay connected from round to round, by server. */
const clients = new Map<string, KeepAliveClient[]>();

async function clientsOf(url: string, count: number): Promise<KeepAliveClient[]> {
  const { origin } = new URL(url);
  const open = clients.get(origin) ?? [];
  clients.set(origin, open);
  while (open.length < count) open.push(await KeepAliveClient.open(url));
  return open.slice(0, count);
}

async function post(client: KeepAliveClient, bytes: Buffer): Promise<void> {
  const answer = await client.request(bytes);
  if (answer.status !== 200) throw new Error(`the server answered ${answer.text().slice(0, 1000)}`);
}

answerParent({
  /** Every connection sends the same request again and again, each time when it has its answer. */
  repeat: command(
    Type.Object({
      ...Address,
      body: Type.Unknown(),
      connections: Type.Integer(),
      durationMs: Type.Number(),
    }),
    async ({ url, token, body, connections, durationMs }) => {
      const open = await clientsOf(url, connections);
      const bytes = postBytes(url, token, body);
      const startedAt = performance.now();
      let answered = 0;
      const poll = async (client: KeepAliveClient): Promise<void> => {
        while (performance.now() - startedAt < durationMs) {
          await post(client, bytes);
          answered += 1;
        }
      };
      await Promise.all(open.map(poll));
      return { count: answered, elapsedMs: performance.now() - startedAt };
    },
  ),
  /** Every request on a connection of its own that is already open, all at once. Returns how long all took, in ms. */
  together: command(
    Type.Object({ ...Address, bodies: Type.Array(Type.Unknown()) }),
    async ({ url, token, bodies }) => {
      const open = await clientsOf(url, bodies.length);
      const requests = bodies.map((body) => postBytes(url, token, body));
      const startedAt = performance.now();
      await Promise.all(open.map((client, index) => post(client, requests[index] ?? Buffer.alloc(0))));
      return performance.now() - startedAt;
    },
  ),
});
