import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { LogCourtesy } from './log-courtesy.ts';
import { RequestsUnderWay } from './requests-under-way.ts';

const anHourOfBytes = 1_000_000;
let server: ReturnType<typeof createServer>;
let courtesy: LogCourtesy;
const open: ServerResponse[] = [];
beforeEach(async () => {
  server = createServer((_, response) => void open.push(response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const requests = new RequestsUnderWay();
  requests.watch(server);
  // A quarter of it is a byte a millisecond.
  courtesy = new LogCourtesy(4000, requests);
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  open.length = 0;
});

async function request(): Promise<ServerResponse> {
  const { port } = server.address() as AddressInfo;
  void fetch(`http://127.0.0.1:${port}`).catch(() => undefined);
  await expect.poll(() => open.length).toBeGreaterThan(0);
  return open.pop() as ServerResponse;
}

const isDone = (promise: Promise<void>): Promise<boolean> =>
  Promise.race([
    promise.then(() => true),
    new Promise<boolean>((resolve) => {
      setImmediate(resolve, false);
    }),
  ]);

test('who sends little waits for nothing, and who sends much for the requests under way', async () => {
  const response = await request();
  await courtesy.wait('greedy', anHourOfBytes);
  const waiting = courtesy.wait('greedy', anHourOfBytes);
  const behind = courtesy.wait('greedy', 1);
  await courtesy.wait('modest', 1);
  expect([await isDone(waiting), await isDone(behind)]).toEqual([false, false]);
  response.end();
  await Promise.all([waiting, behind]);
});

test('nobody waits for ever, nor for a stream, nor where there are no requests', async () => {
  const much = (): Promise<boolean> => isDone(courtesy.wait('greedy', anHourOfBytes));
  expect([await much(), await much()]).toEqual([true, true]);
  (await request()).writeHead(200).flushHeaders();
  expect(await much()).toBe(true);
  const response = await request();
  await courtesy.wait('greedy', 1);
  expect(await much()).toBe(false);
  response.end();
  await expect.poll(much).toBe(true);
});
