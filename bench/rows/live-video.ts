/**
 * Figure: packets of H.264 per second that a viewer of a live phone receives through server and host while an app
 * plays; compared with those that the encoder itself produces, counted at the socket of a phone that plays the same.
 * The app's packets are as large as a real phone's. The cost of a scrolling list is a note: a simulated phone encodes
 * losslessly without motion compensation, so its packets are then many times larger.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { WebSocket } from 'ws';

import type { BenchProcess } from '../harness/bench-process.ts';
import { median } from '../harness/rounds.ts';
import type { Row, RowResult } from '../harness/row.ts';
import type { Stage } from '../harness/stage.ts';
import { ask, directLaunch, launchPath, type Api } from '../http/api.ts';
import { playerApp } from '../phones/player-app.ts';
import { scrolling } from './live.ts';
import { startServerWithPhones, type ServerWithPhones } from './server-with-phones.ts';

const warmUpMs = 3000;
const watchMs = 15_000;
const askedAhead = 8;
const moreViewers = 4;
const touches = 10;
const restMs = 1500;

const Message = Type.Object({ type: Type.String(), packets: Type.Optional(Type.Array(Type.Unknown())) });

/** Plays until stopped. */
const playing = `
await agent.actions.launchApp('${playerApp}');
await new Promise((resolve) => setTimeout(resolve, 600_000));`;

/** Viewer with the behavior of the console. */
class VideoViewer {
  packets = 0;
  bytes = 0;
  /** Time in ms from its request to its first packets. */
  readonly firstMs: Promise<number>;
  readonly #socket: WebSocket;
  #seen: () => void = () => undefined;

  constructor({ url, token }: Api, deviceId: string) {
    this.#socket = new WebSocket(`${url.replace('http', 'ws')}/api/v2/devices/${deviceId}/live?video=h264`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const beganAt = performance.now();
    this.firstMs = this.untilSeen().then(() => performance.now() - beganAt);
    const next = (): void => this.#socket.send('{"type":"next"}');
    this.#socket.on('open', () => {
      for (let asked = 0; asked < askedAhead; asked += 1) next();
    });
    let isVideo = false;
    this.#socket.on('message', (data, isBinary) => {
      if (!Buffer.isBuffer(data)) return;
      if (!isBinary) {
        const { type, packets = [] } = Value.Parse(Message, JSON.parse(data.toString()));
        isVideo = type === 'video';
        this.packets += packets.length;
        if (isVideo || type === 'frame') return;
      } else if (isVideo) {
        this.bytes += data.length;
        this.#seen();
      }
      next();
    });
  }

  /** Resolves when the next packets arrive. */
  untilSeen(): Promise<void> {
    return new Promise((resolve) => {
      this.#seen = resolve;
    });
  }

  close(): void {
    this.#socket.close();
  }
}

/** Returns the processor time of the process while `work` runs, as a share of a core. */
async function shareOf(process: BenchProcess, work: Promise<unknown>): Promise<number> {
  const [before, beganAt] = [await process.cpuMs(), performance.now()];
  await work;
  return ((await process.cpuMs()) - before) / (performance.now() - beganAt);
}

/**
 * Returns the median time in ms until viewers, one after the other, see their first picture while another one
 * watches.
 */
async function firstPicture(api: Api, deviceId: string): Promise<number> {
  const waits: number[] = [];
  for (let at = 0; at < touches; at += 1) {
    await sleep(restMs);
    const viewer = new VideoViewer(api, deviceId);
    waits.push(await viewer.firstMs);
    viewer.close();
  }
  return median(waits);
}

/** Measures the time from a request to its reply, and to the first packet that it causes; medians in ms. */
async function touchToPicture(api: Api, deviceId: string, viewer: VideoViewer): Promise<[number, number]> {
  const answers: number[] = [];
  const pictures: number[] = [];
  for (let at = 0; at < touches; at += 1) {
    await sleep(restMs);
    const beganAt = performance.now();
    const input =
      at % 2 === 0
        ? { type: 'launch_app', package_name: 'com.android.settings' }
        : { type: 'key', key_code: 3 };
    const seen = viewer.untilSeen().then(() => pictures.push(performance.now() - beganAt));
    await ask(api, `/api/v2/devices/${deviceId}/input`, Type.Unknown(), input);
    answers.push(performance.now() - beganAt);
    await seen;
  }
  return [median(answers), median(pictures)];
}

interface Watched {
  readonly perSecond: number;
  readonly bytesEach: number;
  readonly hostShare: number;
  readonly serverShare: number;
}

/** Measures the rates of the viewer and the processor time of the processes. */
async function watchFor(
  viewer: VideoViewer,
  { server, host }: Pick<ServerWithPhones, 'server' | 'host'>,
): Promise<Watched> {
  await sleep(warmUpMs);
  const [packetsBefore, bytesBefore] = [viewer.packets, viewer.bytes];
  const watched = sleep(watchMs);
  const [hostShare, serverShare] = await Promise.all([shareOf(host, watched), shareOf(server, watched)]);
  const packets = viewer.packets - packetsBefore;
  return {
    perSecond: (1000 * packets) / watchMs,
    bytesEach: (viewer.bytes - bytesBefore) / packets,
    hostShare,
    serverShare,
  };
}

const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(0)} kB`;
const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

async function barePackets(stage: Stage): Promise<number> {
  const phones = await stage.start('phones');
  const ports = await phones.call(
    'start',
    { count: 2, roundTripMs: 0, nodes: 0 },
    Type.Array(Type.Integer()),
  );
  const driver = await stage.start('driver');
  const dataDir = await stage.folder();
  await driver.call('open', { ports, dataDir, isLarge: false }, Type.Unknown());
  return driver.call('packets', { port: ports[1] ?? 0, dataDir, durationMs: watchMs }, Type.Number());
}

export const liveVideo: Row = {
  name: 'live-video',
  title: 'packets of H.264 a second of a live view through server and host',
  against: 'the encoder’s own packets at its socket',
  async measure(stage: Stage): Promise<RowResult> {
    const running = await startServerWithPhones(stage, 1, { scrcpy: true });
    const { api, server, host, deviceIds } = running;
    const [deviceId = ''] = deviceIds;
    const launch = (code: string): Promise<unknown> =>
      ask(api, launchPath, Type.Unknown(), { ...directLaunch(deviceId), code });
    const stop = (): Promise<unknown> =>
      ask(api, '/api/v2/devices/stopAllAutomations', Type.Unknown(), { device_id: deviceId });
    await launch(playing);
    await sleep(warmUpMs);
    const unwatched = sleep(watchMs);
    const [hostAlone, serverAlone] = await Promise.all([
      shareOf(host, unwatched),
      shareOf(server, unwatched),
    ]);
    const viewer = new VideoViewer(api, deviceId);
    const one = await watchFor(viewer, running);
    const others = Array.from({ length: moreViewers }, () => new VideoViewer(api, deviceId));
    const allShare = await shareOf(server, sleep(watchMs));
    for (const other of others) other.close();
    const firstMs = await firstPicture(api, deviceId);
    await stop();
    await launch(`await agent.actions.stopApp('${playerApp}');${scrolling}`);
    const scrolled = await watchFor(viewer, running);
    await stop();
    const [answerMs, pictureMs] = await touchToPicture(api, deviceId, viewer);
    viewer.close();
    return {
      figure: one.perSecond,
      baseline: await barePackets(stage),
      unit: '/s',
      targets: [
        { of: 'figure', bound: 'at least', value: 28 },
        { of: 'ratio', bound: 'at least', value: 0.7 },
      ],
      notes: [
        `${kilobytes(one.bytesEach)} a packet`,
        `of a core, for one viewer: the host ${percent(one.hostShare - hostAlone)}, the server ${percent(one.serverShare - serverAlone)}; for each other one: the server ${percent((allShare - one.serverShare) / moreViewers)}`,
        `while a list scrolls: ${scrolled.perSecond.toFixed(1)} packets/s of ${kilobytes(scrolled.bytesEach)}, of a core the host ${percent(scrolled.hostShare)} with its automation, the server ${percent(scrolled.serverShare)}`,
        `a new viewer’s first picture comes after ${firstMs.toFixed(0)} ms`,
        `a touch is answered after ${answerMs.toFixed(0)} ms, and seen after ${pictureMs.toFixed(0)} ms (${(pictureMs / answerMs).toFixed(2)} of that)`,
      ],
    };
  },
};
