import { NameResolver } from '@phalanx/egress';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { createExchanger, type SendExchange } from './http-exchange.ts';
import { follow } from './serve-fetches.ts';

const findAddresses = new NameResolver().of('a run');
let server: Server;
let origin = '';
let hits = 0;
beforeAll(async () => {
  server = createServer((request, response) => {
    hits += 1;
    const to = new URL(request.url ?? '/', 'http://x').searchParams.get('to');
    if (to === null) response.end('inside');
    else response.writeHead(302, { location: to }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** Allows any address for the first hop, to simulate a public server. The policy applies from then on. */
function firstHopAllowed(): SendExchange {
  const sends = [createExchanger(true, findAddresses).send];
  const strict = createExchanger(false, findAddresses).send;
  return (exchange) => (sends.pop() ?? strict)(exchange);
}

it.each(['/inside', 'http://localhost:PORT/inside', 'http://0x7f.1:PORT/', 'http://[::ffff:7f00:1]:PORT/'])(
  'an allowed first hop can’t redirect to %s on this machine',
  async (target) => {
    hits = 0;
    const to = encodeURIComponent(target.replace('PORT', new URL(origin).port));
    const exchange = {
      url: new URL(`${origin}/?to=${to}`),
      method: 'GET',
      headers: new Map<string, string>(),
      body: undefined,
      signal: AbortSignal.timeout(5000),
    };
    await expect(follow(firstHopAllowed(), exchange, 'follow')).rejects.toThrow(
      'PHALANX_ALLOW_PRIVATE_FETCH',
    );
    expect(hits).toBe(1);
  },
);
