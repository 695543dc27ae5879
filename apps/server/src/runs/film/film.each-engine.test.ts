import { maxFilmParts, type RunStep, wireStepLevel } from '@phalanx/protocol';
import { v7 as uuidv7 } from 'uuid';
import { afterEach, describe, expect, it } from 'vitest';
import { createStoredBytes } from '../../storage/db/stored-bytes.ts';
import { listEnqueued } from '../../storage/db/work-queue.ts';
import { addRun } from '../../testing/fleet-rows.ts';
import type { ApiCaller, ApiReply, ApiRequest } from '../../testing/api-caller.ts';
import { openTestDatabase, engines } from '../../testing/engines/test-database.ts';
import { TestServer } from '../../testing/test-server.ts';
import { createFilmStore } from './store.ts';

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

const jpegOf = (text: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array([0xff, 0xd8, 0xff, 0xe0, ...Buffer.from(text)]);

const mp4Of = (text: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array([0, 0, 0, 28, ...Buffer.from(`ftypiso5${text}`)]);

interface Upload extends ApiRequest {
  takenAt?: number;
  /** End of a video, epoch ms. */
  endedAt?: number;
  noVideo?: string;
  partId?: string;
}

async function startRun(options: Parameters<typeof TestServer.start>[0] = {}) {
  const server = await TestServer.start(options);
  cleanUps.push(() => server.dispose());
  const { host, deviceId } = await server.connectHost();
  cleanUps.push(() => host.cut());
  const { runId } = await server.startRun(host, deviceId);
  const list = (query = '', api: ApiCaller = server.api): Promise<ApiReply> =>
    api('GET', `/api/v2/runs/${runId}/film${query}`);
  const read = (number: number | string, more: ApiRequest = {}): Promise<ApiReply> =>
    server.api('GET', `/api/v2/runs/${runId}/film/${number}`, more);
  const put = (
    number: number,
    { takenAt = number, endedAt, noVideo, partId = uuidv7(), ...more }: Upload = {},
  ) => {
    const query = new URLSearchParams({
      number: `${number}`,
      taken_at: `${takenAt}`,
      width: '540',
      height: '1200',
      ...(endedAt !== undefined && { ended_at: `${endedAt}` }),
      ...(noVideo !== undefined && { no_video: noVideo }),
    });
    const address = `/api/v2/hosts/runs/${runId}/film/${partId}?${query}`;
    const body =
      endedAt === undefined
        ? { raw: jpegOf(`picture ${number}`), contentType: 'image/jpeg' }
        : { raw: mp4Of(`video ${number}`), contentType: 'video/mp4' };
    return server.api('PUT', address, { ...body, ...more });
  };
  return { server, host, deviceId, runId, list, read, put };
}

interface Trace {
  steps: RunStep[];
  film: { number: number }[];
  film_videos: { number: number }[];
}

const numbersOf = ({ body }: ApiReply): unknown =>
  Array.isArray(body['pictures'])
    ? body['pictures'].map(({ number }: { number: number }) => number)
    : body['pictures'];

describe('the film of a run', () => {
  it('lists its pictures in their order, in pages, and gives each as it came', async () => {
    const { list, read, put } = await startRun();
    for (const number of [2, 1, 3]) expect((await put(number)).status).toBe(200);
    const whole = await list();
    expect(whole.body).toMatchObject({
      pictures: [1, 2, 3].map((number) => ({
        number,
        taken_at: number,
        width: 540,
        height: 1200,
        size_bytes: 13,
      })),
      next_cursor: null,
    });
    const first = await list('?limit=2');
    expect([numbersOf(first), first.body['next_cursor']]).toEqual([[1, 2], '2']);
    const rest = await list('?limit=2&cursor=2');
    expect([numbersOf(rest), rest.body['next_cursor']]).toEqual([[3], null]);
    const picture = await read(2);
    expect(Object.fromEntries(picture.headers)).toMatchObject({
      'content-type': 'image/jpeg',
      'x-content-type-options': 'nosniff',
      'cache-control': expect.stringContaining('private'),
    });
    expect(picture.text).toContain('picture 2');
    for (const number of [4, 9999]) expect((await read(number)).body['code']).toBe('film_part_not_found');
    for (const number of ['0', 'x', '-1', '1.5']) expect((await read(number)).status).toBe(400);
  });

  it('keeps the picture that came first under a number, and takes nothing that is no JPEG', async () => {
    const { list, read, put } = await startRun();
    const partId = uuidv7();
    expect((await put(1, { partId })).status).toBe(200);
    expect((await put(1, { partId })).status).toBe(200);
    expect((await put(1, { raw: jpegOf('another') })).status).toBe(200);
    expect((await read(1)).text).toContain('picture 1');
    expect((await put(2, { raw: 'GIF89a' })).status).toBe(400);
    expect((await put(2, { contentType: 'image/png' })).status).toBe(415);
    for (const number of [0, maxFilmParts + 1]) expect((await put(number)).status).toBe(400);
    expect(numbersOf(await list())).toEqual([1]);
  });

  it('has videos between its pictures, which are read in parts, and says why a picture is none', async () => {
    const { server, list, read, put } = await startRun();
    await put(1, { noVideo: 'no scrcpy server on the host' });
    await put(2, { takenAt: 10, endedAt: 500 });
    const { body } = await list();
    expect(body).toMatchObject({
      pictures: [{ number: 1, taken_at: 1, no_video: 'no scrcpy server on the host' }],
      videos: [{ number: 2, began_at: 10, ended_at: 500, width: 540, height: 1200, size_bytes: 19 }],
    });
    const whole = await read(2);
    expect(whole.status).toBe(200);
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      'content-type': 'video/mp4',
      'accept-ranges': 'bytes',
      'content-length': '19',
    });
    const part = await read(2, { headers: { range: 'bytes=12-16' } });
    expect([part.status, part.text, part.headers.get('content-range')]).toEqual([
      206,
      'video',
      'bytes 12-16/19',
    ]);
    const beyond = await read(2, { headers: { range: 'bytes=19-' } });
    expect([beyond.status, beyond.body['code']]).toEqual([416, 'range_not_satisfiable']);
    const { token } = await server.createCaller('other');
    expect((await read(2, { token })).body['code']).toBe('run_not_found');
    const jpeg = await put(3, { endedAt: 5, raw: jpegOf('none') });
    expect([jpeg.status, jpeg.text]).toEqual([400, expect.stringContaining('not an MP4 file')]);
    expect((await put(3, { endedAt: 5, contentType: 'image/jpeg' })).status).toBe(415);
  });

  it('is taken from the host of the run alone, and shown to those who see the run', async () => {
    const { server, list, read, put } = await startRun();
    await put(1);
    const { api: other, token } = await server.createCaller('other');
    expect((await put(2, { token })).body['code']).toBe('run_not_found');
    expect((await list('', other)).body['code']).toBe('run_not_found');
    expect((await read(1, { token })).body['code']).toBe('run_not_found');
    expect((await read(1, { token: null })).status).toBe(401);
  });

  it('takes room of its host’s user, and nothing beyond is stored', async () => {
    const { list, put } = await startRun({ settings: { PHALANX_MAX_CAPTURE_MB: '1' } });
    expect((await put(1, { raw: jpegOf('x'.repeat(900_000)) })).status).toBe(200);
    const beyond = await put(2, { raw: jpegOf('x'.repeat(200_000)) });
    expect([beyond.status, beyond.body['code']]).toEqual([409, 'capture_bytes_exceeded']);
    expect(numbersOf(await list())).toEqual([1]);
  });

  it('is named by the trace: the pictures from the first of the steps to the end of the last', async () => {
    const { server, host, runId, put } = await startRun();
    const now = server.clock.now();
    const step = (no: number, duration_ms: number): string =>
      JSON.stringify({ step: no, name: 'tap', target: '"timestamp":9', outcome: 'ok', duration_ms });
    host.buffer(runId, [
      [now - 1000, wireStepLevel, 3, step(1, 100)],
      [now - 500, wireStepLevel, 3, step(2, 200)],
    ]);
    host.sendLogs(runId);
    await host.logsStored(runId);
    for (const [index, offset] of [-1001, -1000, -300, -299].entries())
      expect((await put(index + 1, { takenAt: now + offset })).status).toBe(200);
    await put(5, { takenAt: now - 5000, endedAt: now - 900 });
    await put(6, { takenAt: now - 5000, endedAt: now - 2000 });
    const { body } = await server.api('GET', `/api/v2/runs/${runId}/trace`);
    const { steps, film, film_videos } = body as unknown as Trace;
    expect(steps.map((one) => one.step)).toEqual([1, 2]);
    expect(film.map(({ number }) => number)).toEqual([2, 3]);
    expect(film_videos.map(({ number }) => number)).toEqual([5]);
  });

  it('is asked of the host of the phone, by launches that want one', async () => {
    const { server, host, deviceId } = await startRun();
    const launch = (more: object): Promise<ApiReply> => {
      const body = { device_id: deviceId, launch_id: uuidv7(), command: 'start', code: '1', ...more };
      return server.api('POST', '/api/v2/devices/launchDirectAutomation', { body });
    };
    expect((await launch({})).status).toBe(200);
    expect((await launch({ film: true })).status).toBe(200);
    const told = host.received.flatMap((message) => (message.type === 'launch' ? [message.film] : []));
    expect(told.slice(-2)).toEqual([undefined, true]);
    expect((await launch({ film: 'yes' })).status).toBe(400);
  });
});

describe.each(engines)('films in %s', (engine) => {
  it('go with their run, which leaves their pictures to be deleted, and give back their room', async () => {
    const db = await openTestDatabase(engine);
    const user = {
      id: 'u',
      name: 'u',
      name_key: 'u',
      role: 'user' as const,
      created_at: 0,
      disabled_at: null,
    };
    await db.insertInto('user').values(user).execute();
    const store = createFilmStore(db);
    const usedBytes = (): Promise<number> => createStoredBytes(db).count('host', 'captures');
    const about = { user_id: 'host', taken_at: 5, width: 1, height: 1, size_bytes: 100, no_video: null };
    const add = (run_id: string, number: number): Promise<boolean> => {
      const ended_at = number === 2 ? 7 : null;
      return store.add({ ...about, ended_at, run_id, number, part_id: uuidv7() });
    };
    for (const runId of ['one', 'two']) await addRun(db, runId);
    expect([await add('one', 1), await add('one', 1), await add('one', 2)]).toEqual([true, false, true]);
    expect([await add('two', 1), await add('gone', 1), await usedBytes()]).toEqual([true, false, 300]);
    await db.deleteFrom('launch').where('id', '=', 'one').execute();
    expect(await listEnqueued(db, 'delete captures')).toEqual(['one']);
    const all = { after: 0, limit: 10 };
    expect(await store.list('one', all)).toEqual([]);
    const [left] = await store.list('two', all);
    expect([left?.number, left?.taken_at, left?.ended_at, await usedBytes()]).toEqual([1, 5, null, 100]);
  });
});
