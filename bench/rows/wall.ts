/**
 * Figure: the processor time that a viewer of thirty phones on one wall adds to server and host, in percent of one
 * core, while each phone opens another app every two seconds; compared with the cost of reading the screen of each
 * phone every three seconds, which is the way to see them without the wall. The phones are simulated, in a separate
 * process on the same processors.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Type } from 'typebox';
import { WebSocket } from 'ws';

import type { Row, RowResult } from '../harness/row.ts';
import type { Stage } from '../harness/stage.ts';
import { ask, askText, type Api } from '../http/api.ts';
import { startServerWithPhones } from './server-with-phones.ts';

const many = 30;
const phonesOfMessage = 20;
const settleMs = 3000;
const measureMs = 20_000;
const changeEveryMs = 2000;
const readEveryMs = 3000;
const apps = ['com.android.settings', 'dev.phalanx.sample.form'];

/** Performs an action on each phone repeatedly, spread over time, until the signal aborts. */
async function always(
  deviceIds: readonly string[],
  everyMs: number,
  signal: AbortSignal,
  work: (deviceId: string, round: number) => Promise<unknown>,
): Promise<void> {
  const all = deviceIds.map(async (deviceId, index) => {
    await sleep((index * everyMs) / deviceIds.length);
    for (let round = 0; !signal.aborted; round += 1)
      await Promise.all([sleep(everyMs), work(deviceId, round).catch(() => undefined)]);
  });
  await Promise.all(all);
}

interface Watched {
  pictures: number;
  bytes: number;
}

/** Counts messages until the socket is closed. */
async function watch(
  { url, token }: Api,
  ids: readonly string[],
): Promise<{ seen: Watched; socket: WebSocket }> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v2/devices/live`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const seen = { pictures: 0, bytes: 0 };
  socket.on('message', (data, isBinary) => {
    if (!Buffer.isBuffer(data)) return;
    seen.bytes += data.length;
    if (!isBinary) return;
    seen.pictures += 1;
    socket.send('{"type":"shown","pictures":1}');
  });
  await new Promise((resolve, reject) => {
    socket.on('open', resolve);
    socket.on('error', reject);
  });
  for (let at = 0; at < ids.length; at += phonesOfMessage)
    socket.send(JSON.stringify({ type: 'watch', device_ids: ids.slice(at, at + phonesOfMessage) }));
  return { seen, socket };
}

export const wall: Row = {
  name: 'wall',
  title: 'processor time that a wall of 30 phones adds to server and host, percent of a core',
  against: 'reading the screen of each every three seconds',
  async measure(stage: Stage): Promise<RowResult> {
    const { api, server, host, deviceIds } = await startServerWithPhones(stage, many);
    const cpuMs = async (): Promise<number> => (await server.cpuMs()) + (await host.cpuMs());
    const percent = async (): Promise<number> => {
      await sleep(settleMs);
      const before = await cpuMs();
      await sleep(measureMs);
      return (100 * ((await cpuMs()) - before)) / measureMs;
    };
    const changing = new AbortController();
    const changes = always(deviceIds, changeEveryMs, changing.signal, (id, round) => {
      const body = { type: 'launch_app', package_name: apps[round % apps.length] };
      return ask(api, `/api/v2/devices/${id}/input`, Type.Unknown(), body);
    });
    const unseen = await percent();
    const { seen, socket } = await watch(api, deviceIds);
    const onWall = await percent();
    socket.close();
    const seconds = (settleMs + measureMs) / 1000;
    const reading = new AbortController();
    const reads = always(deviceIds, readEveryMs, reading.signal, (id) =>
      askText(api, `/api/v2/devices/${id}/screen?width=240`),
    );
    const read = await percent();
    reading.abort();
    changing.abort();
    await Promise.all([reads, changes]);
    return {
      figure: onWall - unseen,
      baseline: read - unseen,
      unit: '%',
      targets: [{ of: 'figure', bound: 'at most', value: 50 }],
      notes: [
        `${(seen.pictures / seconds).toFixed(1)} pictures/s, ${(seen.bytes / seconds / 1000).toFixed(0)} kB/s, ${(seen.bytes / seen.pictures / 1000).toFixed(1)} kB a picture`,
        `with nobody who looks, the changes take ${unseen.toFixed(1)} %`,
      ],
    };
  },
};
