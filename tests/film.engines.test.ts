import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { until } from '@phalanx/host/testing/until';
import { type FilmPicture, filmRoutes, type FilmVideo, launchRoutes, type Run } from '@phalanx/protocol';
import { makeScrcpyServer, startSimulatedPhone } from '@phalanx/simulated-phone';
import sharp from 'sharp';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { afterEach, expect, test } from 'vitest';

import { Installation } from './support/installation.ts';

const About = Type.Object({ number: Type.Integer(), ended_at: Type.Optional(Type.Integer()) });
const validator = Compile(Type.Object({ film: Type.Optional(About) }));
const timeLimitMs = 200_000;
let installation: Installation;

afterEach(() => installation.stop());

const filmOf = async (id: string): Promise<readonly FilmPicture[]> =>
  (await installation.api.call(filmRoutes.list, { params: { id }, query: {} })).pictures;

const spooled = (): Promise<string[]> => readdir(path.join(installation.folder, 'host', 'host', 'files'));

/** Of what waits at the host. */
async function spooledParts(): Promise<{ number: number; ended_at?: number }[]> {
  const folder = path.join(installation.folder, 'host', 'host', 'files');
  const indexes = (await spooled()).filter((name) => name.endsWith('.json'));
  const files = await Promise.all(
    indexes.map((name) => readFile(path.join(folder, name), 'utf8').catch(() => '{}')),
  );
  return files.flatMap((text) => validator.Parse(JSON.parse(text)).film ?? []);
}

const spooledNumbers = async (): Promise<number[]> => (await spooledParts()).map(({ number }) => number);

const spooledVideos = async (): Promise<number[]> =>
  (await spooledParts()).flatMap(({ number, ended_at }) => (ended_at === undefined ? [] : [number]));

/** The screen changes every few seconds. */
const code = `for (;;) {
  await agent.actions.launchApp('dev.phalanx.sample.form');
  await agent.actions.sleep(1500);
  await agent.actions.home();
  await agent.actions.sleep(1500);
}`;

async function launchWithFilm(): Promise<string> {
  const [device] = await installation.readyDevices();
  const launchId = randomUUID();
  const about = { device_id: device?.device_id ?? '', launch_id: launchId, command: 'start' as const };
  await installation.api.call(launchRoutes.launchDirect, { body: { ...about, code, film: true } });
  return launchId;
}

const runOf = (launchId: string): Promise<Run | undefined> =>
  until(
    'the run',
    () => installation.findRun(launchId),
    (run) => run !== undefined,
  );

test(
  'a film loses no picture that was written when the cable is cut, and the host and the server are killed',
  async () => {
    installation = await Installation.start(1);
    const launchId = await launchWithFilm();
    const runId = (await runOf(launchId))?.run_id ?? '';
    const before = await until(
      'the first pictures',
      () => filmOf(runId),
      (pictures) => pictures.length >= 2,
    );
    installation.cable.pull();
    // One may be stored already, and its acknowledgement lost.
    const isNew = (numbers: readonly number[]): boolean =>
      numbers.filter((number) => number > before.length).length >= 2;
    const waiting = await until('pictures on disk', spooledNumbers, isNew);
    await installation.host.end('SIGKILL');
    await installation.server.end('SIGKILL');
    installation.cable.plug();
    await installation.restartServer();
    installation.restartHost();
    const film = await until(
      'the pictures that were on disk',
      () => filmOf(runId),
      (pictures) => pictures.length >= Math.max(...waiting),
    );
    // None is missing between them, and each can be seen.
    expect(film.map(({ number }) => number)).toEqual(film.map((_, index) => index + 1));
    for (const { number, width, height } of film) {
      const params = { id: runId, number: String(number) };
      const parts: Uint8Array[] = [];
      for await (const part of await installation.api.stream(filmRoutes.read, { params })) parts.push(part);
      expect(await sharp(Buffer.concat(parts)).metadata()).toMatchObject({ format: 'jpeg', width, height });
    }
    expect(await installation.endedRun(launchId)).toMatchObject({ error: { code: 'host_restarted' } });
    await until('nothing left on the host', spooled, (names) => names.length === 0);
  },
  timeLimitMs,
);

const videosOf = async (id: string): Promise<readonly FilmVideo[]> =>
  (await installation.api.call(filmRoutes.list, { params: { id }, query: {} })).videos;

test(
  'a video that was written outlives a kill of its host',
  async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'phalanx-scrcpy-'));
    const file = path.join(folder, 'scrcpy-server');
    await writeFile(file, makeScrcpyServer('3.3.3'));
    const phone = await startSimulatedPhone({ serial: 'TEST1' });
    const address = { PHALANX_PHONES: `${phone.host}:${phone.port}`, PHALANX_ADB_SERVER: 'off' };
    const hostSettings = { ...address, PHALANX_SCRCPY_SERVER: file };
    installation = await Installation.start({ phones: [phone], hostSettings });
    const launchId = await launchWithFilm();
    const runId = (await runOf(launchId))?.run_id ?? '';
    installation.cable.pull();
    const written = await until('a video on disk', spooledVideos, (numbers) => numbers.length > 0);
    await installation.host.end('SIGKILL');
    installation.cable.plug();
    installation.restartHost();
    const videos = await until(
      'the videos that were on disk',
      () => videosOf(runId),
      (all) => written.every((wanted) => all.some(({ number }) => number === wanted)),
    );
    for (const { number, size_bytes } of videos) {
      const params = { id: runId, number: String(number) };
      const parts: Uint8Array[] = [];
      for await (const part of await installation.api.stream(filmRoutes.read, { params })) parts.push(part);
      const content = Buffer.concat(parts);
      expect([content.byteLength, content.toString('latin1', 4, 8)]).toEqual([size_bytes, 'ftyp']);
      // Its last box, which a file that was cut off would not have.
      expect(content.toString('latin1', content.byteLength - 12, content.byteLength - 8)).toBe('mfro');
    }
    await rm(folder, { recursive: true });
  },
  timeLimitMs,
);
