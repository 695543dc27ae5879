import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { HostFrameScheduler, type Pace } from './host-frame-scheduler.ts';
import { RequestsUnderWay } from './requests-under-way.ts';

const much = 1_000_000;
let server: ReturnType<typeof createServer>;
let scheduler: HostFrameScheduler;
const open: ServerResponse[] = [];
beforeEach(async () => {
  server = createServer((_, response) => void open.push(response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const requests = new RequestsUnderWay();
  requests.watch(server);
  scheduler = new HostFrameScheduler(1000, requests);
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

/** Returns the pace of a frame; undefined when it is read at once. */
async function paceOf(userId: string, bytes = much): Promise<Pace | undefined> {
  let given: Pace | undefined;
  await scheduler.pass(userId, bytes, async (pace) => {
    given = pace;
  });
  return given;
}

test('who sends little keeps no pace, and who sends much keeps one while there are requests', async () => {
  await request();
  expect(await paceOf('greedy')).toBeUndefined();
  expect(await paceOf('greedy')).toBeInstanceOf(Function);
  expect(await paceOf('modest', 1)).toBeUndefined();
});

test('where nobody asks for anything, nobody keeps a pace', async () => {
  expect([await paceOf('greedy'), await paceOf('greedy')]).toEqual([undefined, undefined]);
  const response = await request();
  expect(await paceOf('greedy')).toBeInstanceOf(Function);
  response.end();
  await expect.poll(() => paceOf('greedy')).toBeUndefined();
});

test('an answer that has begun is nothing that anybody waits for', async () => {
  await paceOf('greedy');
  (await request()).writeHead(200).flushHeaders();
  await expect.poll(() => paceOf('greedy')).toBeUndefined();
});

test('the frames of a user are read one after the other, also behind one that failed', async () => {
  await request();
  await paceOf('greedy');
  const first = Promise.withResolvers<void>();
  const read: string[] = [];
  const failing = scheduler.pass('greedy', much, async () => {
    await first.promise;
    read.push('first');
    throw new Error('no log entries');
  });
  const behind = scheduler.pass('greedy', 1, async () => void read.push('second'));
  first.resolve();
  await expect(failing).rejects.toThrow('no log entries');
  await behind;
  expect(read).toEqual(['first', 'second']);
});

test('who took time of the event loop leaves three times as much to others, and all who do share the rest', async () => {
  await request();
  const waits: number[] = [];
  const pauseAfter = async (userId: string, ms: number): Promise<void> => {
    await paceOf(userId);
    await scheduler.pass(userId, much, async (pace) => {
      scheduler.note(userId, ms);
      const startedAt = performance.now();
      await pace?.();
      waits.push(performance.now() - startedAt);
    });
  };
  await pauseAfter('greedy', 30);
  await Promise.all([pauseAfter('greedy', 30), pauseAfter('other', 30)]);
  // A timer of Node may be a millisecond early.
  expect(waits[0]).toBeGreaterThanOrEqual(89);
  for (const wait of waits.slice(1)) expect(wait).toBeGreaterThanOrEqual(209);
});
