import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { maxCaptureBytes, recordRoutes, type CaptureKind, type ScreenReport } from '@phalanx/protocol';
import { v7 as uuidv7 } from 'uuid';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';

import { createApiCaller, type ApiReply } from '../../testing/api-caller.ts';
import { jpegBytes, recordReport, screenReport, sendReport } from '../../testing/records/record-reports.ts';
import { isOnServers } from '../../testing/engines/test-database.ts';
import { afterThisFile } from '../../testing/file-clean-ups.ts';
import { spawnServer as startProcess } from '../../testing/spawn-server.ts';
import { TestHost } from '../../testing/test-host.ts';
import { stringAt } from '../../testing/string-at.ts';
import { adminToken, startBody, TestServer } from '../../testing/test-server.ts';

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

const afterThisTest = (cleanUp: () => Promise<unknown>): void => void cleanUps.push(cleanUp);

async function startAll(settings: Record<string, string> = {}, dataDir?: string, clean = afterThisTest) {
  const own = dataDir === undefined ? {} : { dataDir };
  const server = await TestServer.start({ settings, ...own });
  clean(() => server.dispose());
  const { host, deviceId } = await server.connectHost();
  clean(() => host.cut());
  const run = await server.startRun(host, deviceId);
  return { server, host, deviceId, ...run };
}
type All = Awaited<ReturnType<typeof startAll>>;

/** Server shared by the tests that neither change its settings or its clock nor restart it. */
let standard: All;
beforeAll(async () => {
  standard = await startAll({}, undefined, afterThisFile);
});

interface Place {
  recordId: string;
  screenId: string;
  kind: CaptureKind;
}

const pathOf = ({ recordId, screenId, kind }: Place): string =>
  recordRoutes.putCapture.path
    .replace(':record_id', recordId)
    .replace(':screen_id', screenId)
    .replace(':kind', kind);

const contentTypes = { tree: 'application/json; charset=utf-8', screenshot: 'image/jpeg' };
const tree = '{"root":{"text":"<script>alert(1)</script>","children":[]}}';

function put(
  server: TestServer,
  place: Place,
  raw: string | Uint8Array<ArrayBuffer>,
  more = {},
): Promise<ApiReply> {
  return server.api('PUT', pathOf(place), { raw, contentType: contentTypes[place.kind], ...more });
}

async function announce({ host, runId }: All, screen: Partial<ScreenReport> = {}): Promise<Place> {
  const report = recordReport(runId, { screens: [screenReport(screen)] });
  await sendReport(host, report);
  return { recordId: report.record_id, screenId: report.screens[0]?.screen_id ?? '', kind: 'tree' };
}

async function readRecord(server: TestServer, id: string) {
  const { body } = await server.api('GET', `${recordRoutes.list.path}?cursor=${id}`);
  const record = body['result'];
  const screens: unknown =
    typeof record === 'object' && record !== null ? Reflect.get(record, 'screens') : [];
  const screen: unknown = Array.isArray(screens) ? screens[0] : undefined;
  return { record, screen };
}

const incoming = async (server: TestServer): Promise<string[]> => {
  const folders = server.dataDirs.map((folder) => path.join(folder, 'captures', 'incoming'));
  return (await Promise.all(folders.map((folder) => readdir(folder)))).flat();
};

/** Returns the URL of a capture at one of the servers. */
async function reachableUrlOf(server: TestServer, place: Place): Promise<string> {
  const { pathname, search } = new URL(await urlOf(server, place));
  return `${server.url}${pathname}${search}`;
}

async function urlOf(server: TestServer, place: Place): Promise<string> {
  const { screen } = await readRecord(server, place.recordId);
  if (place.kind === 'tree') return stringAt(screen, 'uiUrl');
  const screenshot: unknown =
    typeof screen === 'object' && screen !== null ? Reflect.get(screen, 'screenshot') : null;
  return stringAt(screenshot, 'screenshotUrl');
}

describe('a capture', () => {
  it('makes its record whole when the last one arrives, and is read at its address without a header', async () => {
    const all = standard;
    const place = await announce(all);
    expect(await put(all.server, place, tree)).toMatchObject({ status: 200, body: { success: true } });
    expect((await readRecord(all.server, place.recordId)).record).toMatchObject({ partial: true });
    const picture = jpegBytes(5000);
    expect((await put(all.server, { ...place, kind: 'screenshot' }, picture)).status).toBe(200);
    expect((await readRecord(all.server, place.recordId)).record).toMatchObject({ partial: false });
    const treeReply = await fetch(await reachableUrlOf(all.server, place));
    expect(treeReply.status).toBe(200);
    expect(await treeReply.text()).toBe(tree);
    expect(Object.fromEntries(treeReply.headers)).toMatchObject({
      'content-type': 'application/json',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining('sandbox'),
      'cache-control': expect.stringMatching(/^private, max-age=\d+, immutable$/),
      'access-control-allow-origin': '*',
      'content-length': String(tree.length),
    });
    const pictureReply = await fetch(await reachableUrlOf(all.server, { ...place, kind: 'screenshot' }));
    expect(pictureReply.headers.get('content-type')).toBe('image/jpeg');
    expect(new Uint8Array(await pictureReply.arrayBuffer())).toEqual(picture);
    expect(await incoming(all.server)).toEqual([]);
  });

  it('stays as it is when it is sent again, and is no longer asked for', async () => {
    const all = standard;
    const report = recordReport(all.runId, { screens: [screenReport()] });
    await sendReport(all.host, report);
    const place: Place = {
      recordId: report.record_id,
      screenId: report.screens[0]?.screen_id ?? '',
      kind: 'tree',
    };
    await put(all.server, place, tree);
    expect((await put(all.server, place, '{"other":true}')).status).toBe(200);
    expect(await (await fetch(await reachableUrlOf(all.server, place))).text()).toBe(tree);
    expect(await sendReport(all.host, report)).toEqual([{ screen_id: place.screenId, kind: 'screenshot' }]);
  });

  it('may be sent twice at the same time', async () => {
    const all = await startAll();
    const place = { ...(await announce(all)), kind: 'screenshot' as const };
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => put(all.server, place, jpegBytes(2_000_000))),
    );
    expect(replies.map((reply) => reply.status)).toEqual(Array.from({ length: 8 }, () => 200));
    expect((await (await fetch(await reachableUrlOf(all.server, place))).arrayBuffer()).byteLength).toBe(
      2_000_000,
    );
    expect(await incoming(all.server)).toEqual([]);
    expect(await all.server.metrics()).toContain('phalanx_captures_stored_total{kind="screenshot"} 1');
  });

  it('is refused unless this user’s host has announced it, before its body is looked at', async () => {
    const all = standard;
    const place = await announce(all, { screenshot: null });
    const stranger = await all.server.createCaller('stranger');
    const { secret } = await all.server.createToken({ scopes: ['read', 'review'] });
    const cases: [number, Place, object][] = [
      [404, { ...place, recordId: uuidv7() }, {}],
      [404, { ...place, screenId: randomUUID() }, {}],
      [404, { ...place, kind: 'screenshot' }, {}],
      [404, place, { token: stranger.token }],
      [403, place, { token: secret }],
      [401, place, { token: null }],
      [400, { ...place, screenId: '..%2f..%2fescape' }, {}],
      [400, { ...place, recordId: 'x' }, {}],
      [415, place, { contentType: 'text/html' }],
      [415, place, { contentType: 'image/jpeg' }],
      [415, place, { contentType: null }],
    ];
    for (const [status, where, more] of cases) {
      const reply = await put(all.server, where, tree, more);
      expect([status, reply.body['success']]).toEqual([reply.status, false]);
    }
    expect(await incoming(all.server)).toEqual([]);
  });

  it('of the wrong content is refused, and nothing is left of it', async () => {
    const all = standard;
    const place = await announce(all);
    for (const content of ['', '[]', '{"a":', tree.slice(0, -1), `${tree}x`]) {
      expect((await put(all.server, place, content)).status).toBe(400);
    }
    for (const content of ['', 'GIF89a', '\u00ff\u00d8', '<html>']) {
      expect((await put(all.server, { ...place, kind: 'screenshot' }, content)).status).toBe(400);
    }
    const large = jpegBytes(maxCaptureBytes + 1);
    const tooLarge = await put(all.server, { ...place, kind: 'screenshot' }, large);
    expect([tooLarge.status, tooLarge.body['code']]).toEqual([413, 'body_too_large']);
    expect(await incoming(all.server)).toEqual([]);
    expect((await readRecord(all.server, place.recordId)).screen).toMatchObject({ uiUrl: null });
    expect((await put(all.server, place, tree)).status).toBe(200);
  });

  it('that is too large is refused also when its length was not told', async () => {
    const all = standard;
    const place = { ...(await announce(all)), kind: 'screenshot' as const };
    const upload = startUpload(all.server.url, place, { 'transfer-encoding': 'chunked' });
    const chunk = jpegBytes(1024 * 1024);
    for (let sent = 0; sent <= maxCaptureBytes; sent += chunk.byteLength) upload.sending.write(chunk);
    expect(await upload.status).toBe(413);
    upload.sending.destroy();
    expect(await incoming(all.server)).toEqual([]);
  });

  it('that is cut off leaves nothing behind', async () => {
    const all = standard;
    const place = { ...(await announce(all)), kind: 'screenshot' as const };
    const upload = startUpload(all.server.url, place, { 'content-length': '100000' });
    upload.sending.write(jpegBytes(50_000));
    await expect.poll(() => incoming(all.server)).toHaveLength(1);
    upload.sending.destroy();
    await upload.status;
    await expect.poll(() => incoming(all.server)).toEqual([]);
    expect((await put(all.server, place, jpegBytes())).status).toBe(200);
  });
});

/** Starts an upload. `status` resolves with 0 when no reply comes. */
function startUpload(url: string, place: Place, headers: Record<string, string>) {
  const { promise, resolve } = Promise.withResolvers<number>();
  const sending = request(`${url}${pathOf(place)}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': contentTypes[place.kind], ...headers },
  });
  sending.on('response', (response) => {
    response.resume();
    resolve(response.statusCode ?? 0);
  });
  sending.on('error', () => resolve(0));
  return { sending, status: promise };
}

describe('the address of a capture', () => {
  it('works for a day, stays the same for hours, and survives a restart', async () => {
    const all = await startAll({ PHALANX_FILE_URL: 'https://files.example/phones/' });
    const place = await announce(all);
    await put(all.server, place, tree);
    const url = await urlOf(all.server, place);
    expect(url.startsWith('https://files.example/phones/captures/')).toBe(true);
    const local = () => fetch(`${all.server.url}${url.slice('https://files.example/phones'.length)}`);
    expect((await local()).status).toBe(200);
    expect(await urlOf(all.server, place)).toBe(url);
    await all.server.restart();
    expect((await local()).status).toBe(200);
    all.server.clock.advance(23 * 3_600_000);
    expect((await local()).status).toBe(200);
    all.server.clock.advance(8 * 3_600_000);
    const expired = await local();
    expect([expired.status, (await expired.json()) as unknown]).toMatchObject([
      403,
      { success: false, code: 'capture_url_expired' },
    ]);
    expect(await urlOf(all.server, place)).not.toBe(url);
    await all.host.connect().catch(() => undefined);
  });

  it('is void when anything of it is changed', async () => {
    const all = standard;
    const place = await announce(all);
    await put(all.server, place, tree);
    await put(all.server, { ...place, kind: 'screenshot' }, jpegBytes());
    const url = await reachableUrlOf(all.server, place);
    const start = new URL(url).origin.length + 1;
    const characters = '0Aa_-/.%&=?';
    for (let at = start; at < url.length; at += 1) {
      const other =
        characters[at % characters.length] === url[at] ? 'Z' : (characters[at % characters.length] ?? 'Z');
      const changed = `${url.slice(0, at)}${other}${url.slice(at + 1)}`;
      const { status } = await fetch(changed);
      expect([changed, status >= 400 && status < 500]).toEqual([changed, true]);
    }
    const expires = /expires=(\d+)/.exec(url)?.[1] ?? '';
    for (const changed of [
      url.replace('/tree?', '/screenshot?'),
      url.replace(expires, String(Number(expires) + 1)),
      url.replace(expires, `0${expires}`),
      url.replace(/&signature=.*/, ''),
      `${url}A`,
      `${url}&expires=${expires}`,
      url.replace(place.recordId, place.recordId.toUpperCase()),
      url.replace('/captures/', '/captures/../captures/%2e%2e/'),
    ]) {
      const { status } = await fetch(changed);
      expect([changed, status >= 400 && status < 500]).toEqual([changed, true]);
    }
    expect((await fetch(url)).status).toBe(200);
  });

  it('serves parts, conditions and HEAD', async () => {
    const all = standard;
    const place = await announce(all);
    await put(all.server, place, tree);
    const url = await reachableUrlOf(all.server, place);
    const get = (headers: Record<string, string>, method = 'GET') => fetch(url, { headers, method });
    const part = await get({ range: 'bytes=2-5' });
    expect([part.status, await part.text(), part.headers.get('content-range')]).toEqual([
      206,
      tree.slice(2, 6),
      `bytes 2-5/${tree.length}`,
    ]);
    const outside = await get({ range: 'bytes=5000-' });
    expect([outside.status, outside.headers.get('content-range')]).toEqual([416, `bytes */${tree.length}`]);
    expect(((await outside.json()) as { code: string }).code).toBe('range_not_satisfiable');
    const etag = part.headers.get('etag') ?? '';
    expect((await get({ 'if-none-match': `"x", ${etag}` })).status).toBe(304);
    expect((await get({ 'if-none-match': '"x"' })).status).toBe(200);
    expect((await get({ 'if-range': '"x"', range: 'bytes=2-5' })).status).toBe(200);
    expect((await get({ 'if-range': etag, range: 'bytes=2-5' })).status).toBe(206);
    const head = await get({}, 'HEAD');
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(tree.length)]);
    expect((await fetch(url, { method: 'POST' })).status).toBe(405);
  });
});

describe('captures whose record is gone', () => {
  it('are deleted with it, and those that a crash left behind are found part by part', async () => {
    const all = await startAll({ PHALANX_RECORDS_KEPT: '1' });
    const place = await announce(all);
    await put(all.server, place, tree);
    const url = await reachableUrlOf(all.server, place);
    const folder = path.join(all.server.dataDir, 'captures', place.recordId.slice(-2), place.recordId);
    // Several servers store captures in S3.
    expect(await readdir(folder).catch(() => [])).toEqual(isOnServers ? [] : [`${place.screenId}.tree.zst`]);
    await announce(all);
    await expect.poll(async () => (await fetch(url)).status).toBe(404);
    expect(existsSync(folder)).toBe(false);
    const reply = await fetch(url);
    expect([reply.status, ((await reply.json()) as { code: string }).code]).toEqual([
      404,
      'capture_not_found',
    ]);
    expect((await put(all.server, place, tree)).status).toBe(404);
  });
});

describe('an upload whose record is deleted meanwhile', () => {
  it('is refused, and leaves no file', async () => {
    const all = await startAll({ PHALANX_RECORDS_KEPT: '1' });
    const place = { ...(await announce(all)), kind: 'screenshot' as const };
    const upload = startUpload(all.server.url, place, { 'content-length': '100000' });
    upload.sending.write(jpegBytes(50_000));
    await expect.poll(() => incoming(all.server)).toHaveLength(1);
    await announce(all);
    upload.sending.end(new Uint8Array(50_000));
    expect(await upload.status).toBe(404);
    for (const folder of all.server.dataDirs) {
      const shard = path.join(folder, 'captures', place.recordId.slice(-2));
      expect(await readdir(shard).catch(() => [])).not.toContain(place.recordId);
    }
    expect(await incoming(all.server)).toEqual([]);
  });
});

async function spawnServer(dataDir: string): ReturnType<typeof startProcess> {
  const started = await startProcess(dataDir);
  cleanUps.push(async () => started.child.kill('SIGKILL'));
  return started;
}

describe('a server that is killed in the middle of an upload', () => {
  it('asks for the capture again and leaves nothing of the first one', async () => {
    const dataDir = mkdtempSync(path.join(tmpdir(), 'phalanx-captures-'));
    cleanUps.push(() => rm(dataDir, { recursive: true, force: true }));
    const first = await spawnServer(dataDir);
    const host = new TestHost({ url: first.url, token: adminToken });
    await host.connect();
    const api = createApiCaller(first.url, adminToken);
    const { body } = await api('GET', '/api/v2/devices');
    const deviceId = stringAt((body['devices'] as unknown[])[0], 'device_id');
    await api('POST', '/api/v2/devices/launchDirectAutomation', startBody(deviceId));
    const runId = host.messages('launch').at(-1)?.runs[0]?.run_id ?? '';
    const report = recordReport(runId, { screens: [screenReport({ has_tree: false })] });
    const missing = await sendReport(host, report);
    const place: Place = {
      recordId: report.record_id,
      screenId: missing[0]?.screen_id ?? '',
      kind: 'screenshot',
    };
    const upload = startUpload(first.url, place, { 'content-length': '100000' });
    upload.sending.write(jpegBytes(50_000));
    const folder = path.join(dataDir, 'captures', 'incoming');
    await expect.poll(() => readdir(folder)).toHaveLength(1);
    const exited = once(first.child, 'exit');
    first.child.kill('SIGKILL');
    await exited;
    expect(await upload.status).toBe(0);
    // Simulates a process that was killed between keeping a capture and noting it, while the record was deleted.
    const lost = uuidv7();
    await mkdir(path.join(dataDir, 'captures', lost.slice(-2), lost), { recursive: true });

    const second = await spawnServer(dataDir);
    host.url = second.url;
    await host.connect();
    expect(await readdir(folder)).toEqual([]);
    expect(await sendReport(host, report)).toEqual(missing);
    const again = createApiCaller(second.url, adminToken);
    const reply = await again('PUT', pathOf(place), { raw: jpegBytes(), contentType: 'image/jpeg' });
    expect(reply.status).toBe(200);
    await host.cut();
  });
});

const canMount = process.getuid?.() === 0 && tryMount();

function tryMount(): boolean {
  const folder = mkdtempSync(path.join(tmpdir(), 'phalanx-mount-'));
  try {
    execFileSync(path.join('/bin', 'mount'), ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], {
      stdio: 'ignore',
    });
    execFileSync(path.join('/bin', 'umount'), [folder], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe('a disk that is full', () => {
  it.runIf(canMount)(
    'is told to the host, who may try again, and nothing is left of the attempt',
    async () => {
      const dataDir = mkdtempSync(path.join(tmpdir(), 'phalanx-full-'));
      mkdirSync(path.join(dataDir, 'captures'));
      execFileSync(path.join('/bin', 'mount'), [
        '-t',
        'tmpfs',
        '-o',
        'size=1m',
        'tmpfs',
        path.join(dataDir, 'captures'),
      ]);
      let isMounted = true;
      const unmount = async (): Promise<void> => {
        if (isMounted) execFileSync(path.join('/bin', 'umount'), ['-l', path.join(dataDir, 'captures')]);
        isMounted = false;
      };
      cleanUps.push(() => unmount().then(() => rm(dataDir, { recursive: true, force: true })));
      const all = await startAll({}, dataDir);
      // Runs before the test server deletes its folder.
      cleanUps.push(unmount);
      const place = { ...(await announce(all)), kind: 'screenshot' as const };
      const api = createApiCaller(all.server.urls[0] ?? '', adminToken);
      const putThere = (raw: Uint8Array<ArrayBuffer>): Promise<ApiReply> =>
        api('PUT', pathOf(place), { raw, contentType: contentTypes.screenshot });
      const reply = await putThere(jpegBytes(3_000_000));
      expect([reply.status, reply.body['code']]).toEqual([507, 'storage_full']);
      expect(await readdir(path.join(dataDir, 'captures', 'incoming'))).toEqual([]);
      expect((await putThere(jpegBytes(1000))).status).toBe(200);
      await writeFile(path.join(dataDir, 'captures', 'more'), new Uint8Array(500_000));
    },
  );
});
