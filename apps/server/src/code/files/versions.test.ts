import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { TestServer } from '../../testing/test-server.ts';

let server: TestServer;
let address: string;
let listAddress: string;

beforeAll(async () => {
  server = await TestServer.start();
  const projectId = await server.createProject();
  address = `/api/v2/automation/file/${projectId}`;
  listAddress = `/api/v2/automation/files/${projectId}`;
});
afterAll(() => server.dispose());

const put = (path: string, content: string, headers: Record<string, string> = {}) =>
  server.api('PUT', address, { body: { path, content }, headers });
const read = (path: string, headers: Record<string, string> = {}) =>
  server.api('GET', `${address}?path=${path}`, { headers });
const remove = (path: string, headers: Record<string, string>) =>
  server.api('DELETE', `${address}?path=${path}`, { headers });
const tagOf = ({ headers }: { headers: Headers }): string => headers.get('etag') ?? '';

describe('the version of a file', () => {
  it('is the same in the replies to writing, reading and listing it, and spares reading it again', async () => {
    const tag = tagOf(await put('a.ts', 'const a = 1;\n'));
    expect(tag).toMatch(/^"[0-9a-f]{40}"$/);
    expect(tagOf(await read('a.ts'))).toBe(tag);
    const { body } = await server.api('GET', listAddress);
    expect(body['files']).toMatchObject([{ path: 'a.ts', etag: tag }]);
    expect(await read('a.ts', { 'if-none-match': `"x", W/${tag}` })).toMatchObject({ status: 304, text: '' });
    expect(tagOf(await put('a.ts', 'const a = 2;\n'))).not.toBe(tag);
    expect((await read('a.ts', { 'if-none-match': tag })).status).toBe(200);
  });

  it('spares reading a large file too', async () => {
    const tag = tagOf(await put('large.txt', 'x'.repeat(2 ** 20)));
    expect(await read('large.txt', { 'if-none-match': tag })).toMatchObject({ status: 304, text: '' });
    expect((await read('large.txt')).body['content']).toHaveLength(2 ** 20);
  });

  it('that a write or a delete names must be the present one, or nothing is changed', async () => {
    const old = tagOf(await put('b.txt', 'one'));
    const tag = tagOf(await put('b.txt', 'two', { 'if-match': old }));
    for (const refused of [
      await put('b.txt', 'three', { 'if-match': old }),
      await put('b.txt', 'three', { 'if-none-match': '*' }),
      await put('none.txt', 'three', { 'if-match': '*' }),
      await remove('b.txt', { 'if-match': old }),
    ])
      expect([refused.status, refused.body['code']]).toEqual([412, 'precondition_failed']);
    expect((await read('b.txt')).body['content']).toBe('two');
    expect((await put('new.txt', 'new', { 'if-none-match': '*' })).status).toBe(200);
    expect((await remove('b.txt', { 'if-match': tag })).status).toBe(200);
  });

  it('lets one of many writers of the same version through', async () => {
    const tag = tagOf(await put('c.txt', 'start'));
    const texts = Array.from({ length: 8 }, (_, index) => `writer ${index}`);
    const replies = await Promise.all(texts.map((text) => put('c.txt', text, { 'if-match': tag })));
    const winners = texts.filter((_, index) => replies[index]?.status === 200);
    expect(winners).toHaveLength(1);
    expect((await read('c.txt')).body['content']).toBe(winners[0]);
  });
});
