import { deviceControlRoutes } from '@phalanx/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { Viewer } from '../apps/server/src/control/live/testing/viewers.ts';
import { Installation } from './support/installation.ts';

let installation: Installation;
let deviceId: string;

beforeAll(async () => {
  installation = await Installation.start(1);
  deviceId = (await installation.readyDevices())[0]?.device_id ?? '';
});
afterAll(() => installation.stop());

const watch = (): Promise<Viewer> =>
  Viewer.open(`${installation.url}/api/v2/devices/${deviceId}/live`, {
    authorization: `Bearer ${installation.callerSettings['PHALANX_TOKEN']}`,
  });

async function untilStill(viewer: Viewer): Promise<void> {
  while ((await viewer.next()).type !== 'still');
}

test('two people watch a phone while one of them touches it', async () => {
  const viewers = [await watch(), await watch()];
  const first = await Promise.all(viewers.map((viewer) => viewer.next()));
  for (const { type, jpeg } of first) expect([type, jpeg?.slice(0, 3)]).toEqual(['frame', 'ÿØÿ']);
  await Promise.all(viewers.map(untilStill));
  const changed = Promise.all(viewers.map((viewer) => viewer.next()));
  const body = { type: 'launch_app', package_name: 'dev.phalanx.sample.form' } as const;
  await installation.api.call(deviceControlRoutes.input, { params: { id: deviceId }, body });
  const [one, other] = await changed;
  expect(one).toMatchObject({ type: 'frame', width: 1080, height: 2400 });
  expect(one?.jpeg).toBe(other?.jpeg);
  for (const viewer of viewers) viewer.close();
});
