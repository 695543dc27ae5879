import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 256));

/** Serves the snippets: fixed replies and echoes of requests. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, headers } = request;
  const [url] = (request.url ?? '').split('?');
  const sent = await buffer(request);
  const json = (value: unknown): void =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  if (url === '/silent') return;
  if (url === '/todo') json({ id: 1, title: 'écrire' });
  else if (url === '/bytes') response.writeHead(200, { 'content-type': 'image/png' }).end(bytes);
  else if (url === '/form') json({ parts: await partsOf(sent, headers['content-type'] ?? '') });
  else if (url === '/echo')
    json({
      method,
      type: headers['content-type'],
      auth: headers.authorization,
      body: sent.toString(),
    });
  else response.writeHead(404).end('nothing here');
}

async function partsOf(body: Buffer, contentType: string): Promise<unknown[]> {
  const form = await new Response(new Uint8Array(body), {
    headers: { 'content-type': contentType },
  }).formData();
  return Promise.all(
    Array.from(form, async ([name, value]) =>
      typeof value === 'string' ? [name, value] : [name, value.name, value.type, await value.text()],
    ),
  );
}

export interface EchoServer {
  readonly url: string;
  close(): Promise<void>;
}

export async function startEchoServer(): Promise<EchoServer> {
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
