import { once } from 'node:events';
import { Agent, createServer, get, type Server } from 'node:http';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { type AddressRule, guardedLookup, type Resolve } from './address-rule.ts';

/** Represent an allowed address, and a refused one within the private network. */
const [outside, inside] = ['127.0.0.2', '127.0.0.1'];
const rule: AddressRule = {
  isAllowed: (address) => address === outside,
  refusal: (host) => new Error(`${host} is refused`),
};

let servers: Server[];
let port: number;
let reached: string[];

async function listen(address: string, wanted: number): Promise<number> {
  const server = createServer((_request, response) => {
    reached.push(address);
    response.end();
  });
  servers.push(server);
  server.listen(wanted, address);
  await once(server, 'listening');
  const bound = server.address();
  return bound === null || typeof bound === 'string' ? 0 : bound.port;
}

beforeEach(async () => {
  servers = [];
  reached = [];
  port = await listen(outside, 0);
  await listen(inside, port);
});
afterEach(() => Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve)))));

/** Returns a resolver that gives each answer once, and the last one from then on. */
function resolver(answers: readonly (readonly string[])[]): { resolve: Resolve; asked: () => number } {
  let asked = 0;
  const resolve: Resolve = (_hostname, _options, callback) => {
    const addresses = answers[Math.min(asked, answers.length - 1)] ?? [];
    asked += 1;
    callback(
      null,
      addresses.map((address) => ({ address, family: 4 })),
    );
  };
  return { resolve, asked: () => asked };
}

/** Resolves with the status, or with the reason for the failure. */
function request(resolve: Resolve): Promise<number | string> {
  const { promise, resolve: settle } = Promise.withResolvers<number | string>();
  const agent = new Agent({ keepAlive: false, lookup: guardedLookup(rule, resolve) });
  get({ host: 'turns.example', port, agent }, (response) => {
    response.resume();
    settle(response.statusCode ?? 0);
  }).on('error', ({ message }) => settle(message));
  return promise;
}

it('a name that turns inward after it was checked is connected to as it was checked, and refused the next time', async () => {
  const { resolve, asked } = resolver([[outside], [inside]]);
  expect(await request(resolve)).toBe(200);
  expect(asked()).toBe(1);
  expect(await request(resolve)).toBe('turns.example is refused');
  expect(reached).toEqual([outside]);
});

it('a name with one inward address among others is refused, whichever comes first', async () => {
  for (const addresses of [
    [outside, inside],
    [inside, outside],
  ])
    expect(await request(resolver([addresses]).resolve)).toBe('turns.example is refused');
  expect(reached).toEqual([]);
});
