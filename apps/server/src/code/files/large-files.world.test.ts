import { hash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { TestProject } from '../projects/testing/test-projects.ts';
import type { ApiCaller } from '../../testing/api-caller.ts';
import { TestServer } from '../../testing/test-server.ts';

const limit = 50 * 1024 * 1024;
let server: TestServer;
let api: ApiCaller;
let project: TestProject;

beforeAll(async () => {
  server = await TestServer.start();
  ({ api } = await server.createCaller('ann'));
});
afterAll(() => server.dispose());
beforeEach(async () => {
  project = await TestProject.create(api);
});

/** Text of exactly this many bytes, with characters of one to four bytes and all kinds of line ends. */
function textOf(sizeBytes: number): string {
  const unit = 'line\r\n"quoted" \\ é漢🦴\u0001\n';
  const unitBytes = Buffer.byteLength(unit);
  return unit.repeat(Math.floor(sizeBytes / unitBytes)) + 'x'.repeat(sizeBytes % unitBytes);
}

const sha = (text: string): string => hash('sha256', text, 'hex');

describe('a file of the largest size', () => {
  it('comes back byte for byte', async () => {
    const text = textOf(limit);
    const reply = await project.write('large.txt', text);
    expect([reply.status, reply.body]).toEqual([
      200,
      { success: true, path: 'large.txt', compiledPath: 'large.txt', compiled: false, warnings: [] },
    ]);
    expect(sha((await project.content('large.txt')) ?? '')).toBe(sha(text));
    const { body } = await api('GET', `/api/v2/automation/files/${project.id}`);
    expect(body['files']).toMatchObject([{ size: limit, change: 'added' }]);
    await project.mustCommit();
  });

  it('may be written in the longest form that JSON has', async () => {
    const raw = `{"path":"large.txt","content":"${'\\u0001'.repeat(limit)}"}`;
    const reply = await api('PUT', `/api/v2/automation/file/${project.id}`, { raw });
    expect(reply.status).toBe(200);
    const { body } = await api('GET', `/api/v2/automation/files/${project.id}`);
    expect(body['files']).toMatchObject([{ size: limit }]);
  });

  it('can be one byte larger no more', async () => {
    for (const content of ['x'.repeat(limit + 1), 'é'.repeat(limit / 2 + 1)]) {
      const reply = await project.write('large.txt', content);
      expect([reply.status, reply.body['code']]).toEqual([413, 'file_too_large']);
    }
    expect(await project.changes()).toEqual({});
  });

  it('leaves nothing in the staging folder', async () => {
    await project.write('large.txt', 'x'.repeat(2 * 1024 * 1024));
    await project.write('large.txt', 'x'.repeat(limit + 1));
    // Waits, because the files are removed after the reply has been sent.
    const staging = path.join(server.dataDir, 'git', 'staging');
    const staged = (): string[] => readdirSync(staging).filter((name) => name.startsWith('body-'));
    await expect.poll(staged).toEqual([]);
  });
});

describe('a large body', () => {
  const put = (raw: string) => api('PUT', `/api/v2/automation/file/${project.id}`, { raw });
  const large = 'x'.repeat(2 * 1024 * 1024);

  it.each([
    ['half of a surrogate pair', `{"path":"a.txt","content":"${large}\\ud800"}`, 400, 'invalid_content'],
    ['content that is no text', `{"path":"a.txt","content":["${large}"]}`, 400, 'invalid_request'],
    ['no content', `{"path":"a.txt","other":"${large}"}`, 400, 'invalid_request'],
    ['no path', `{"content":"${large}"}`, 400, 'invalid_request'],
    ['a large path', `{"path":"${large}","content":""}`, 400, 'invalid_path'],
    ['a list', `["${large}"]`, 400, 'invalid_request'],
    ['JSON that is cut short', `{"path":"a.txt","content":"${large}`, 400, 'malformed_json'],
    [
      'millions of values',
      `{"path":"a.txt","content":[${'0,'.repeat(40_000_000)}0]}`,
      400,
      /malformed_json|invalid_request/,
    ],
    ['deep nesting', `{"path":"a.txt","content":${'['.repeat(5_000_000)}`, 400, 'malformed_json'],
  ])('is refused with %s, and the service goes on', async (_, raw, status, code) => {
    const reply = await put(raw);
    expect([reply.status, reply.body['code']]).toEqual([status, expect.stringMatching(code)]);
    expect(await project.changes()).toEqual({});
  });

  it('of TypeScript is compiled', async () => {
    const reply = await put(`{"path":"main.ts","content":"const text: string = '${large}';"}`);
    expect(reply.body).toMatchObject({ success: true, compiledPath: 'main.js', compiled: true });
    expect(await project.content('main.js')).toContain('const text = ');
  });

  it('beyond the limit of the route is refused', async () => {
    const reply = await put(
      `{"path":"a.txt","content":"${'\\u0001'.repeat(limit)}","more":"${'x'.repeat(70_000)}"}`,
    );
    expect([reply.status, reply.body['code']]).toEqual([413, 'body_too_large']);
  });
});
