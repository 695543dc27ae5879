/**
 * Figure: pictures per second that a viewer of a live phone receives through server and host while an automation
 * scrolls its screen; compared with those that the helper itself makes, counted on a bare socket to a phone that
 * scrolls the same way. The viewer requests the next picture as soon as it has one. A simulated phone makes fewer
 * pictures than the helper of a real one, because it draws them on this machine.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Type } from 'typebox';
import { WebSocket } from 'ws';

import type { Row, RowResult } from '../harness/row.ts';
import type { Stage } from '../harness/stage.ts';
import { ask, directLaunch, launchPath, type Api } from '../http/api.ts';
import { startServerWithPhones } from './server-with-phones.ts';

const warmUpMs = 3000;
const watchMs = 15_000;

/** Scrolls the settings up and down while there is a viewer: slowly, so that the screen hardly ever stands still. */
export const scrolling = `
await agent.actions.launchApp('com.android.settings');
for (let at = 0; at < 100; at += 1)
  await agent.actions.swipe(540, at % 2 === 0 ? 1800 : 600, 540, at % 2 === 0 ? 600 : 1800, 3000);`;

interface Watched {
  pictures: number;
  bytes: number;
}

/** Counts messages until the socket is closed. */
async function watch({ url, token }: Api, deviceId: string): Promise<{ seen: Watched; socket: WebSocket }> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v2/devices/${deviceId}/live`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const seen = { pictures: 0, bytes: 0 };
  const next = (): void => socket.send('{"type":"next"}');
  socket.on('message', (data, isBinary) => {
    if (!isBinary && Buffer.isBuffer(data) && data.includes('"frame"')) return;
    if (isBinary && Buffer.isBuffer(data)) {
      seen.pictures += 1;
      seen.bytes += data.length;
    }
    next();
  });
  await new Promise((resolve, reject) => {
    socket.on('open', resolve);
    socket.on('error', reject);
  });
  next();
  return { seen, socket };
}

async function barePictures(stage: Stage): Promise<number> {
  const phones = await stage.start('phones');
  const ports = await phones.call(
    'start',
    { count: 2, roundTripMs: 0, nodes: 0 },
    Type.Array(Type.Integer()),
  );
  const driver = await stage.start('driver');
  await driver.call('open', { ports, dataDir: await stage.folder(), isLarge: false }, Type.Unknown());
  return driver.call('pictures', { durationMs: watchMs }, Type.Number());
}

export const live: Row = {
  name: 'live',
  title: 'pictures a second of a live view through server and host',
  against: 'the helper’s own pictures on a bare socket',
  async measure(stage: Stage): Promise<RowResult> {
    const { api, host, deviceIds } = await startServerWithPhones(stage, 1);
    const [deviceId = ''] = deviceIds;
    await ask(api, launchPath, Type.Unknown(), { ...directLaunch(deviceId), code: scrolling });
    const { seen, socket } = await watch(api, deviceId);
    await sleep(warmUpMs);
    const [before, cpuBefore] = [{ ...seen }, await host.cpuMs()];
    await sleep(watchMs);
    const pictures = seen.pictures - before.pictures;
    const bytes = seen.bytes - before.bytes;
    const cpuMs = (await host.cpuMs()) - cpuBefore;
    socket.close();
    await ask(api, '/api/v2/devices/stopAllAutomations', Type.Unknown(), { device_id: deviceId });
    return {
      figure: (1000 * pictures) / watchMs,
      baseline: await barePictures(stage),
      unit: '/s',
      targets: [{ of: 'ratio', bound: 'at least', value: 0.7 }],
      notes: [
        `${(bytes / pictures / 1000).toFixed(1)} kB a picture, ${((8 * bytes) / watchMs).toFixed(0)} kbit/s`,
        `the host takes ${((100 * cpuMs) / watchMs).toFixed(1)} % of a core, with the automation that scrolls`,
      ],
    };
  },
};
