import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { until } from '@phalanx/host/testing/until';
import { type FilmPicture, filmRoutes, launchRoutes, type Run } from '@phalanx/protocol';
import sharp from 'sharp';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { afterEach, expect, test } from 'vitest';

import { Installation } from './support/installation.ts';

const validator = Compile(Type.Object({ film: Type.Optional(Type.Object({ number: Type.Integer() })) }));
const timeLimitMs = 200_000;
let installation: Installation;

afterEach(() => installation.stop());

const filmOf = async (id: string): Promise<readonly FilmPicture[]> =>
  (await installation.api.call(filmRoutes.list, { params: { id }, query: {} })).pictures;

const spooled = (): Promise<string[]> => readdir(path.join(installation.folder, 'host', 'host', 'files'));

/** Of the pictures that wait at the host. */
async function spooledNumbers(): Promise<number[]> {
  const folder = path.join(installation.folder, 'host', 'host', 'files');
  const indexes = (await spooled()).filter((name) => name.endsWith('.json'));
  const files = await Promise.all(
    indexes.map((name) => readFile(path.join(folder, name), 'utf8').catch(() => '{}')),
  );
  return files.flatMap((text) => validator.Parse(JSON.parse(text)).film?.number ?? []);
}

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
