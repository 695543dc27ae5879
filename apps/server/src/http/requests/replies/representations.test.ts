import { get, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { adminToken, TestServer } from '../../../testing/test-server.ts';
import { StaticDocument } from './static-document.ts';

let server: TestServer;
let file: string;

beforeAll(async () => {
  server = await TestServer.start();
  const projectId = await server.createProject();
  file = `/api/v2/automation/file/${projectId}?path=large.txt`;
  const body = { path: 'large.txt', content: 'line\n'.repeat(200_000) };
  await server.api('PUT', `/api/v2/automation/file/${projectId}`, { body });
});
afterAll(() => server.dispose());

/** Gets a reply as it comes over the wire. */
async function rawGet(path: string, headers: Record<string, string>) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const authorization = `Bearer ${adminToken}`;
    get(`${server.url}${path}`, { headers: { authorization, ...headers }, agent: false }, resolve).on(
      'error',
      reject,
    );
  });
  return { headers: response.headers, status: response.statusCode, bytes: await buffer(response) };
}

describe('large replies', () => {
  it.each([
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ])('come as %s to who asks for it, whole or in pieces', async (coding, decompress) => {
    for (const path of ['/api/openapi.json', file]) {
      const plain = await rawGet(path, {});
      expect(plain.headers['content-encoding']).toBeUndefined();
      const reply = await rawGet(path, { 'accept-encoding': coding });
      expect(reply.headers).toMatchObject({ 'content-encoding': coding, vary: 'accept-encoding' });
      expect(reply.bytes.length).toBeLessThan(plain.bytes.length / 2);
      expect(decompress(reply.bytes).equals(plain.bytes)).toBe(true);
    }
  });

  it('are the only ones that are compressed', async () => {
    const { headers } = await rawGet('/api/v2/me', { 'accept-encoding': 'gzip, br' });
    expect(headers['content-encoding']).toBeUndefined();
  });
});

describe('what is read twice', () => {
  it('is not sent again to who names its version, until it changes', async () => {
    const first = await rawGet('/api/v2/users', {});
    const tag = first.headers.etag ?? '';
    expect(tag).not.toBe('');
    const again = await rawGet('/api/v2/users', { 'if-none-match': tag });
    expect([again.status, again.bytes.length]).toEqual([304, 0]);
    await server.createUser('somebody new');
    expect((await rawGet('/api/v2/users', { 'if-none-match': tag })).status).toBe(200);
  });
});

describe('a static document', () => {
  it('is what /api/openapi.json and the scripts of /docs are', async () => {
    for (const path of ['/api/openapi.json', '/llms-full.txt']) {
      const replies = await Promise.all([1, 2, 3].map(() => rawGet(path, { 'accept-encoding': 'br' })));
      const [one, ...others] = replies.map(({ bytes }) => bytes);
      if (one === undefined) throw new Error('nothing came');
      for (const other of others) expect(other.equals(one)).toBe(true);
      // A request for the compressed form finds the one that is cached.
      const plain = brotliDecompressSync(one).toString();
      expect(await StaticDocument.of(plain).compressed('br')).toEqual(one);
      expect((await rawGet(path, {})).headers.etag).toBe(StaticDocument.of(plain).tag);
    }
  });
});
