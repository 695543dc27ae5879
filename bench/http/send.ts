import type { KeepAliveClient } from './keep-alive-client.ts';

/** Resolves with the latency in ms. Throws unless the reply is a success. */
export async function send(client: KeepAliveClient, bytes: Buffer): Promise<number> {
  const startedAt = performance.now();
  const answer = await client.request(bytes);
  const elapsedMs = performance.now() - startedAt;
  if (answer.status >= 200 && answer.status < 300) return elapsedMs;
  throw new Error(`the server answered ${answer.text().slice(0, 1000)}`);
}
