import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { SettingError } from '@phalanx/settings';
import { freePort } from '@phalanx/simulated-phone/testing/free-port';
import { afterEach, expect, it } from 'vitest';
import { findFault } from '../../../kernel/faults/fault-monitor.ts';
import { bodyOf, Bucket } from './bucket.ts';

let server: Server;
let bucket: Bucket;
afterEach(() => {
  bucket.close();
  server.close();
  server.closeAllConnections();
});

/** A storage that answers with these, one request after the other, and the last of them for ever. */
async function storage(...answers: RequestListener[]): Promise<{ asked: () => number }> {
  let count = 0;
  server = createServer((request, response) => {
    const answer = answers[Math.min(count, answers.length - 1)];
    count += 1;
    answer?.(request, response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  open(typeof address === 'object' && address !== null ? address.port : 0);
  return { asked: () => count };
}

function open(port: number): void {
  const endpoint = new URL(`http://127.0.0.1:${port}`);
  const config = { endpoint, bucket: 'bucket', region: 'us-east-1', accessKey: 'A', secretKey: 'S' };
  bucket = new Bucket(config, { silentMs: 200, retryMs: 1 });
}

const good: RequestListener = (request, response) => {
  request.resume().on('end', () => response.end());
};
const busy: RequestListener = (_request, response) =>
  response.writeHead(503).end('<Error><Code>SlowDown</Code></Error>');
const cut: RequestListener = (request) => request.socket.destroy();
const silent: RequestListener = () => undefined;

const faultOf = async (work: Promise<unknown>) =>
  findFault(await work.then(() => undefined).catch((error: unknown) => error));
const put = () => bucket.put('key', bodyOf('content'), 'text/plain');

it('what fails for a moment is tried again, with the whole body', async () => {
  const { asked } = await storage(busy, cut, good);
  await put();
  expect(asked()).toBe(3);
});

it.each([
  ['reports errors', busy, 'it reports errors'],
  ['cuts connections', cut, 'the connection was cut'],
  ['is silent', silent, 'it does not answer in time'],
])('a storage that %s is a fault of its part', async (_, answer, reason) => {
  const { asked } = await storage(answer);
  expect(await faultOf(put())).toEqual({ part: 's3', code: 'bucket_unavailable', reason });
  expect(asked()).toBe(3);
  expect(await faultOf(bucket.probe({ isThorough: false }))).toMatchObject({ reason });
});

it('what is refused is not tried again', async () => {
  const { asked } = await storage((_request, response) => response.writeHead(403).end());
  expect(await faultOf(put())).toMatchObject({ part: 's3' });
  expect(asked()).toBe(1);
});

it('a storage that is not there does not keep a service from starting as a wrong setting does', async () => {
  await storage(good);
  open(await freePort());
  const error: unknown = await bucket.open().catch((thrown: unknown) => thrown);
  expect(error).not.toBeInstanceOf(SettingError);
  expect(findFault(error)).toMatchObject({ reason: 'nothing listens at its address' });
});

it('an object whose bytes stop coming ends its reader, and no other waits for it', async () => {
  await storage(
    (_request, response) => response.writeHead(200, { 'content-length': 100 }).write('half'),
    good,
  );
  const stream = await bucket.read('key');
  await put();
  if (stream === undefined) throw new Error('the storage has the object');
  await expect(buffer(stream)).rejects.toThrow();
});
