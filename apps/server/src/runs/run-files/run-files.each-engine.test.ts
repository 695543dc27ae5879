import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { request } from 'node:http';
import path from 'node:path';
import { maxRunFiles } from '@phalanx/protocol';
import { v7 as uuidv7 } from 'uuid';
import { afterEach, describe, expect, it } from 'vitest';
import { createStoredBytes } from '../../storage/db/stored-bytes.ts';
import { listEnqueued } from '../../storage/db/work-queue.ts';
import { createCaptureNotes } from '../../evidence/records/store.ts';
import type { ApiCaller, ApiReply, ApiRequest } from '../../testing/api-caller.ts';
import { addRun } from '../../testing/fleet-rows.ts';
import { openTestDatabase, engines } from '../../testing/engines/test-database.ts';
import { adminToken, TestServer } from '../../testing/test-server.ts';
import { createRunFileStore } from './store.ts';

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

interface Upload extends ApiRequest {
  name?: string;
  fileId?: string;
  type?: string;
}

const binary = 'application/octet-stream';

async function startRun(options: Parameters<typeof TestServer.start>[0] = {}) {
  const server = await TestServer.start(options);
  cleanUps.push(() => server.dispose());
  const { host, deviceId } = await server.connectHost();
  cleanUps.push(() => host.cut());
  const { runId } = await server.startRun(host, deviceId);
  const list = (api: ApiCaller = server.api, token?: string | null): Promise<ApiReply> =>
    api('GET', `/api/v2/runs/${runId}/files`, token === undefined ? {} : { token });
  const read = (name: string, more: ApiRequest = {}): Promise<ApiReply> =>
    server.api('GET', `/api/v2/runs/${runId}/files/${encodeURIComponent(name)}`, more);
  const put = (
    raw: string | Uint8Array<ArrayBuffer>,
    { name = 'report.csv', fileId = uuidv7(), type = 'text/csv', ...more }: Upload = {},
  ): Promise<ApiReply> => {
    const query = new URLSearchParams({ name, content_type: type });
    const address = `/api/v2/hosts/runs/${runId}/files/${fileId}?${query}`;
    return server.api('PUT', address, { raw, contentType: binary, ...more });
  };
  return { server, host, deviceId, runId, list, read, put };
}

const filesOf = ({ body }: ApiReply): unknown => body['files'];

describe('a file of a run', () => {
  it('is listed with its hash and read again, whole, in part and not at all', async () => {
    const { server, runId, list, read, put } = await startRun();
    expect((await put('a,b\n1,2\n')).status).toBe(200);
    expect(filesOf(await list())).toEqual([
      {
        name: 'report.csv',
        size_bytes: 8,
        sha256: createHash('sha256').update('a,b\n1,2\n').digest('hex'),
        content_type: 'text/csv',
        created_at: expect.any(Number),
      },
    ]);
    const whole = await read('report.csv');
    expect(whole.text).toBe('a,b\n1,2\n');
    expect((await read('REPORT.CSV')).text).toBe('a,b\n1,2\n');
    const part = await read('report.csv', { headers: { range: 'bytes=4-6' } });
    expect([part.status, part.text, part.headers.get('content-range')]).toEqual([206, '1,2', 'bytes 4-6/8']);
    const beyond = await read('report.csv', { headers: { range: 'bytes=8-' } });
    expect([beyond.status, beyond.body['code']]).toEqual([416, 'range_not_satisfiable']);
    const tag = whole.headers.get('etag') ?? '';
    const again = await fetch(`${server.url}/api/v2/runs/${runId}/files/report.csv`, {
      headers: { authorization: `Bearer ${adminToken}`, 'if-none-match': tag },
    });
    expect(again.status).toBe(304);
  });

  it('may be empty, and has any name that file systems take', async () => {
    const { list, read, put } = await startRun();
    const names = ['0', 'größe und maß.txt', "it's (1).txt", '報告.json', 'a%2fb.txt', '-rf'];
    for (const name of names) expect((await put('', { name })).status).toBe(200);
    const listed = filesOf(await list());
    expect(Array.isArray(listed) && listed.map((file: { name: string }) => file.name).toSorted()).toEqual(
      names.toSorted(),
    );
    const read1 = await read('größe und maß.txt');
    expect([read1.status, read1.text, read1.headers.get('content-disposition')]).toEqual([
      200,
      '',
      `attachment; filename="gr__e und ma_.txt"; filename*=UTF-8''gr%C3%B6%C3%9Fe%20und%20ma%C3%9F.txt`,
    ]);
  });

  it('does nothing in a browser, whatever its type claims', async () => {
    const { read, put } = await startRun();
    await put('<script>alert(1)</script>', { name: 'a.html', type: 'text/html' });
    await put('<svg xmlns="http://www.w3.org/2000/svg"/>', { name: 'a.svg', type: 'image/svg+xml' });
    await put(new Uint8Array([0x89, 0x50]), { name: 'a.png', type: 'image/png' });
    const safe = {
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining('sandbox'),
      'content-disposition': expect.stringMatching(/^attachment; /),
    };
    for (const name of ['a.html', 'a.svg'])
      expect(Object.fromEntries((await read(name)).headers)).toMatchObject({
        ...safe,
        'content-type': binary,
      });
    expect(Object.fromEntries((await read('a.png')).headers)).toMatchObject({
      ...safe,
      'content-type': 'image/png',
    });
  });

  it('stays as it is when it comes again, and gives its name to no other', async () => {
    const { list, read, put } = await startRun();
    const fileId = uuidv7();
    expect((await put('first', { fileId })).status).toBe(200);
    expect((await put('first', { fileId })).status).toBe(200);
    const other = await put('second', { name: 'Report.csv' });
    expect([other.status, other.body['code']]).toEqual([400, 'run_file_exists']);
    expect((await read('report.csv')).text).toBe('first');
    expect(filesOf(await list())).toHaveLength(1);
  });

  it('of two that come under one name at the same moment is one of them, whole', async () => {
    const { list, read, put } = await startRun();
    const contents = ['a'.repeat(100_000), 'b'.repeat(100_000)];
    const replies = await Promise.all(contents.map((content) => put(content)));
    expect(replies.map(({ status }) => String(status)).toSorted()).toEqual(['200', '400']);
    expect(filesOf(await list())).toHaveLength(1);
    expect(contents).toContain((await read('report.csv')).text);
  });

  it('is refused with a name that is none', async () => {
    const { list, put } = await startRun();
    for (const name of [
      '../x',
      'a/b',
      'a\\b',
      '.hidden',
      'x.',
      ' x',
      'a\u0000',
      'a\u202eb',
      'CON',
      'nul.txt',
      'a:b',
    ])
      expect([name, (await put('x', { name })).status]).toEqual([name, 400]);
    for (const name of ['', 'x'.repeat(201), '報'.repeat(100)])
      expect([name, (await put('x', { name })).status]).toEqual([name, 400]);
    for (const type of ['text', 'text/html\r\nx: y', 'a/b; boundary="x"'])
      expect([type, (await put('x', { type })).status]).toEqual([type, 400]);
    expect((await put('x', { contentType: 'text/html' })).status).toBe(415);
    expect(filesOf(await list())).toEqual([]);
  });

  it('is taken from the host of the run alone, and shown to those who see the run', async () => {
    const { server, list, read, put } = await startRun();
    await put('secret');
    const { api: other, token } = await server.createCaller('other');
    expect((await put('x', { name: 'x', token })).body['code']).toBe('run_not_found');
    expect((await list(other)).body['code']).toBe('run_not_found');
    expect((await read('report.csv', { token })).body['code']).toBe('run_not_found');
    expect((await list(server.api, null)).status).toBe(401);
    expect((await read('missing.csv')).body['code']).toBe('run_file_not_found');
  });

  it('is one of a hundred at most, also when several are sent at once', async () => {
    const { list, put } = await startRun();
    for (let number = 1; number < maxRunFiles; number += 1)
      expect((await put('x', { name: `${number}` })).status).toBe(200);
    const together = await Promise.all(['a', 'b', 'c', 'd'].map((name) => put('x', { name })));
    const codes = together.map(({ status, body }) => body['code'] ?? status);
    const full = 'too_many_run_files';
    expect(codes).toContain(200);
    expect(codes.filter((code) => code === full)).toHaveLength(3);
    expect((await put('x', { name: 'more' })).body['code']).toBe(full);
    expect(filesOf(await list())).toHaveLength(maxRunFiles);
  });

  it('takes room of its host’s user, and nothing beyond is stored', async () => {
    const { list, put } = await startRun({ settings: { PHALANX_MAX_CAPTURE_MB: '1' } });
    expect((await put(new Uint8Array(900_000), { name: 'a' })).status).toBe(200);
    const beyond = await put(new Uint8Array(200_000), { name: 'b' });
    expect([beyond.status, beyond.body['code']]).toEqual([409, 'capture_bytes_exceeded']);
    expect(filesOf(await list())).toHaveLength(1);
  });

  it('that is cut off leaves nothing', async () => {
    const { server, runId, list } = await startRun();
    const upload = request(
      `${server.url}/api/v2/hosts/runs/${runId}/files/${randomUUID()}?name=x&content_type=a/b`,
      {
        method: 'PUT',
        headers: { authorization: `Bearer ${adminToken}`, 'content-type': binary, 'content-length': 1000 },
      },
    );
    upload.on('error', () => undefined);
    upload.write('half');
    await once(upload, 'socket');
    upload.destroy();
    await new Promise((resolve) => void upload.once('close', resolve));
    const incoming = async (): Promise<string[]> =>
      (
        await Promise.all(server.dataDirs.map((dir) => readdir(path.join(dir, 'captures', 'incoming'))))
      ).flat();
    await expect.poll(incoming).toEqual([]);
    expect(filesOf(await list())).toEqual([]);
  });
});

describe.each(engines)('files of runs in %s', (engine) => {
  it('go with their run, which leaves their contents to be deleted, and give back their room', async () => {
    const db = await openTestDatabase(engine);
    const user = {
      id: 'u',
      name: 'u',
      name_key: 'u',
      role: 'user',
      created_at: 0,
      disabled_at: null,
    } as const;
    await db.insertInto('user').values(user).execute();
    const store = createRunFileStore(db);
    const usedBytes = (): Promise<number> => createStoredBytes(db).count('host', 'captures');
    const content = { content_type: 'a/b', size_bytes: 100, sha256: '', created_at: 0, user_id: 'host' };
    const add = (runId: string, name: string): Promise<boolean> =>
      store.add({ ...content, run_id: runId, name, file_id: `${runId} ${name}` }, 2);
    for (const runId of ['one', 'two']) await addRun(db, runId);
    const ofOne = [
      await add('one', 'a'),
      await add('one', 'A'),
      await add('one', 'b'),
      await add('one', 'c'),
    ];
    expect(ofOne).toEqual([true, false, true, false]);
    expect([await add('two', 'a'), await add('gone', 'a')]).toEqual([true, false]);
    expect([await store.count('one'), await usedBytes()]).toEqual([2, 300]);
    await db.deleteFrom('launch').where('id', '=', 'one').execute();
    expect(await listEnqueued(db, 'delete captures')).toEqual(['one']);
    expect([await store.list('one'), await store.count('two'), await usedBytes()]).toEqual([[], 1, 100]);
    expect(await createCaptureNotes(db).listKnown(['one', 'two'])).toEqual(new Set(['two']));
  });
});
