import { Type } from 'typebox';

import { answerParent, command } from '../harness/answer-parent.ts';
import { jsonBody, KeepAliveClient, requestBytes } from '../http/keep-alive-client.ts';
import { Pace } from '../http/pace.ts';
import { send } from '../http/send.ts';

const Address = { url: Type.String(), token: Type.String() };

/** Clients that stay connected from round to round, by server. */
const clients = new Map<string, KeepAliveClient[]>();
let pace: Pace | undefined;
let largeContent = '';

async function clientsOf(url: string, count: number): Promise<KeepAliveClient[]> {
  const { origin } = new URL(url);
  const open = clients.get(origin) ?? [];
  clients.set(origin, open);
  while (open.length < count) open.push(await KeepAliveClient.open(url));
  return open.slice(0, count);
}

async function elapsedMs(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** With quotes and line ends, which JSON has to escape. */
function largeText(sizeBytes: number): string {
  const line = `${crypto.randomUUID()} said "hello" and went on to the next line of the file\n`;
  return line.repeat(Math.floor(sizeBytes / line.length));
}

async function requireSuccess(response: Response): Promise<Response> {
  if (response.ok) return response;
  throw new Error(`the server answered ${(await response.text()).slice(0, 1000)}`);
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
  /** One request after the other on one connection. Returns how long each took, in ms. */
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
  /** Asks for `url` so many times a second from now on. */
  startPace: command(Type.Object({ ...Address, perSecond: Type.Number() }), ({ url, token, perSecond }) => {
    pace = new Pace(url, requestBytes('GET', { url, token }), perSecond);
  }),
  /** Returns how long each answer took, in ms. */
  stopPace: () => pace?.stop(),
  prepareLargeFile: command(Type.Object({ sizeBytes: Type.Integer() }), ({ sizeBytes }) => {
    largeContent = JSON.stringify(largeText(sizeBytes));
  }),
  /** Writes what was prepared at `path` of a project, and reads it back. */
  moveLargeFile: command(Type.Object({ ...Address, path: Type.String() }), async ({ url, token, path }) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const body = `{"path":${JSON.stringify(path)},"content":${largeContent}}`;
    const inMs = await elapsedMs(async () => {
      await (await requireSuccess(await fetch(url, { method: 'PUT', headers, body }))).arrayBuffer();
    });
    const outMs = await elapsedMs(async () => {
      const from = `${url}?path=${encodeURIComponent(path)}`;
      const bytes = await (await requireSuccess(await fetch(from, { headers }))).arrayBuffer();
      if (bytes.byteLength < largeContent.length) throw new Error('the file came back shorter');
    });
    return { inMs, outMs };
  }),
});
