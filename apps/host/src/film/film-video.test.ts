/** Films of runs on a phone that encodes its screen as H.264. */
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ScreenMask } from '@phalanx/protocol';
import { makeScrcpyServer } from '@phalanx/simulated-phone';
import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input } from 'mediabunny';
import { expect, it } from 'vitest';
import { readHostRows } from '../testing/host-rows.ts';
import { launchOf } from '../testing/launch-of.ts';
import { serial, useTestHost } from '../testing/test-host.ts';
import { until, untilEmpty } from '../testing/until.ts';

const timings = { filmPictureMs: 100, filmAfterCallMs: 50, filmPollMs: 10, filmStretchMs: 2000 };
const host = useTestHost({ timings });
type Part = ReturnType<typeof host.service.records.filmOf>[number];
const masks: ScreenMask[] = [{ area: { left: 0, top: 0, right: 1, bottom: 0.1 } }];

async function openWithScrcpy(settings: Record<string, string> = {}): Promise<void> {
  const file = join(host.dataDir, 'scrcpy-server');
  await writeFile(file, makeScrcpyServer('3.3.3'));
  await host.stop();
  await host.reopen({ PHALANX_SCRCPY_SERVER: file, ...settings });
}

/** Changes the screen, and lets it rest for pictures. */
const moving = `for (;;) {
  await agent.actions.launchApp('dev.phalanx.sample.form');
  await agent.actions.sleep(400);
  await agent.actions.home();
  await agent.actions.sleep(400);
}`;

function launch(code: string, film?: true): string {
  const runId = randomUUID();
  host.service.send({
    ...launchOf(code, [{ run_id: runId, device_id: 'device-1', serial }]),
    ...(film === true && { film }),
  });
  return runId;
}

async function end(runId: string): Promise<void> {
  host.service.send({ type: 'stop', run_ids: [runId] });
  await host.service.untilEnded(runId);
}

const filmOf = (runId: string): Part[] => host.service.records.filmOf(runId);
const isVideo = ({ endedAt }: Part): boolean => endedAt !== undefined;
const videosOf = (runId: string): Part[] => filmOf(runId).filter(isVideo);

const untilEncoding = (): Promise<number> =>
  until(
    'an encoder',
    () => host.phone.encoderCount,
    (count) => count === 1,
  );

interface Played {
  readonly isKeyFirst: boolean;
  readonly frames: number;
  readonly seconds: number;
  readonly codec: string | null;
  readonly size: { width: number; height: number };
}

/** Reads the file with an independent library. */
async function play({ body }: Part): Promise<Played> {
  const input = new Input({ source: new BufferSource(new Uint8Array(body)), formats: ALL_FORMATS });
  const track = await input.getPrimaryVideoTrack();
  if (track === null) throw new Error('no video');
  const first = await new EncodedPacketSink(track).getFirstPacket({ verifyKeyPackets: true });
  const { packetCount } = await track.computePacketStats();
  return {
    isKeyFirst: first?.type === 'key' && first.timestamp === 0,
    frames: packetCount,
    seconds: await track.computeDuration(),
    codec: await track.getCodecParameterString(),
    size: { width: track.codedWidth, height: track.codedHeight },
  };
}

it('is a video from its first line on, and ends with a picture of the last screen', async () => {
  await openWithScrcpy();
  const runId = launch(moving, true);
  // The film is available during the run.
  await host.service.until(() => videosOf(runId).length > 0);
  await end(runId);
  const film = filmOf(runId);
  expect(film.map(({ number }) => number)).toEqual(film.map((_, index) => index + 1));
  let frames = 0;
  for (const part of film.filter(isVideo)) {
    const { takenAt, endedAt = 0, width, height, body } = part;
    expect(part.contentType).toBe('video/mp4');
    expect(body.toString('latin1').match(/moof/g)?.length).toBeGreaterThan(0);
    const played = await play(part);
    expect(played).toMatchObject({ isKeyFirst: true, codec: 'avc1.42c032', size: { width, height } });
    frames += played.frames;
    expect(Math.abs(played.seconds - (endedAt - takenAt) / 1000)).toBeLessThan(0.01);
  }
  const videos = film.filter(isVideo);
  expect(frames).toBeGreaterThan(videos.length);
  // Each video starts where the previous one ended.
  for (const [index, { endedAt }] of videos.slice(0, -1).entries())
    expect(videos[index + 1]?.takenAt).toBe(endedAt);
  expect(film.at(-1)).toMatchObject({ contentType: 'image/jpeg' });
  expect(film.at(-1)?.takenAt).toBeGreaterThanOrEqual(videos.at(-1)?.endedAt ?? Infinity);
  // The last screen alone is a picture.
  expect(film.filter((part) => !isVideo(part)).map(({ noVideo }) => noVideo)).toEqual([undefined]);
});

it('has a gap while something is masked, and video again afterwards', async () => {
  await openWithScrcpy();
  const runId = launch(moving, true);
  await untilEncoding();
  await host.service.until(() => videosOf(runId).length > 0);
  const maskedFrom = Date.now();
  const masked = host.launch(
    "console.log('there'); await new Promise((resolve) => setTimeout(resolve, 600_000));",
    serial,
    masks,
  );
  await host.service.until(() => host.service.messages(masked).includes('there'));
  await sleep(500);
  const maskedUntil = Date.now();
  await end(masked);
  await untilEncoding();
  await host.service.until(() => videosOf(runId).some(({ takenAt }) => takenAt >= maskedUntil));
  await end(runId);
  const inMask = videosOf(runId).filter(
    ({ takenAt, endedAt = 0 }) => takenAt < maskedUntil && endedAt > maskedFrom + 200,
  );
  expect(inMask).toEqual([]);
  expect(filmOf(runId).map(isVideo)).toEqual([...videosOf(runId).map(() => true), false]);
});

it('that could not be brought to the server is on disk for the next life of the host', async () => {
  await openWithScrcpy();
  host.service.records.answer = () => 500;
  const runId = launch(moving, true);
  const videos = () => readHostRows(host.dataDir, 'run_file').filter(({ value }) => value.includes('.mp4'));
  await until('a video on disk', videos, ({ length }) => length > 0);
  await host.stop();
  host.service.records.answer = () => 200;
  await host.reopen();
  await untilEmpty(host.pathOf('files'));
  const [video] = videosOf(runId);
  expect(video && (await play(video))).toMatchObject({ isKeyFirst: true });
});

it('ends with its last screen when its video has reached its limit, and comes without being asked for where that is set', async () => {
  await openWithScrcpy({ PHALANX_RUN_FILM: 'always', PHALANX_RUN_FILM_MB: '1' });
  const runId = launch(moving);
  const usedBytes = (): number => videosOf(runId).reduce((sum, { body }) => sum + body.byteLength, 0);
  await host.service.until(() => usedBytes() > 600_000);
  await sleep(3000);
  await end(runId);
  expect(filmOf(runId).at(-1)).toMatchObject({ noVideo: 'the video of the film has reached its limit' });
  expect(usedBytes()).toBeLessThanOrEqual(800_000);
});
