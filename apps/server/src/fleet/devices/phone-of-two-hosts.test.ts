import { afterAll, beforeAll, expect, it } from 'vitest';

import { deviceReport } from '../../testing/host-wire.ts';
import { stringAt } from '../../testing/string-at.ts';
import { TestServer } from '../../testing/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.dispose());

const rows = async (serial: string): Promise<string[][]> => {
  const { body } = await server.api(
    'GET',
    `/api/v2/devices?selector=${encodeURIComponent(`serial=${serial}`)}`,
  );
  const devices = Array.isArray(body['devices']) ? body['devices'] : [];
  return devices.map((one) => ['device_id', 'model', 'state'].map((field) => stringAt(one, field)));
};

it('a phone that two hosts have ready stays with the first, and goes to the other when that lets go of it', async () => {
  const shown = [deviceReport('both', { boot_mark: 'a' })];
  const { host: first, deviceId } = await server.connectHost({ serials: [] });
  const { host: second } = await server.connectHost({ serials: [] });
  const tell = (host: typeof first, devices: typeof shown): void => {
    host.devices = devices;
    host.send({ type: 'devices', devices });
  };
  expect(deviceId).toBe('');
  tell(first, shown);
  await first.heartbeat();
  tell(second, [deviceReport('both', { boot_mark: 'a', model: 'Of the second' })]);
  await second.heartbeat();
  const [before = []] = await rows('both');
  expect(before.slice(1)).toEqual(['Pixel 9', 'ready']);
  expect(await rows('both')).toHaveLength(1);
  tell(first, [deviceReport('both', { boot_mark: 'a', state: 'offline' })]);
  await first.heartbeat();
  await expect.poll(() => rows('both')).toEqual([[before[0], 'Of the second', 'ready']]);
  tell(first, shown);
  await first.heartbeat();
  expect((await rows('both'))[0]?.[1]).toBe('Of the second');
  await second.cut();
  await expect.poll(() => rows('both')).toEqual([[before[0], 'Pixel 9', 'ready']]);
  await first.cut();
});

it('phones without a number of their own at one port of two hosts are two, and stay so when a host leaves', async () => {
  const tablet = (model: string) => deviceReport('usb:1-1', { model, has_own_number: false });
  const { host: first } = await server.connectHost({ serials: [] });
  const { host: second } = await server.connectHost({ serials: [] });
  first.send({ type: 'devices', devices: [tablet('A')] });
  second.send({ type: 'devices', devices: [tablet('B')] });
  await Promise.all([first.heartbeat(['usb:1-1']), second.heartbeat(['usb:1-1'])]);
  const before = await rows('usb:1-1');
  expect(new Set(before.map(([, model]) => model))).toEqual(new Set(['A', 'B']));
  expect(before).toHaveLength(2);
  await first.cut();
  second.send({ type: 'devices', devices: [{ ...tablet('B'), reason: 'Back' }] });
  await second.heartbeat(['usb:1-1']);
  await expect
    .poll(() => rows('usb:1-1'))
    .toEqual(before.map(([id = '', model = '']) => [id, model, model === 'A' ? 'offline' : 'ready']));
  await second.cut();
});

it('a phone of a host that goes is the other one’s at once, without the look that comes every few seconds', async () => {
  const calm = await TestServer.start({ sweepMs: 3_600_000 });
  const { host: first, deviceId } = await calm.connectHost({ serials: ['moved'] });
  const { host: second } = await calm.connectHost({ serials: ['moved'] });
  await first.cut();
  await calm.seenEverywhere(deviceId, 'ready');
  expect((await calm.start(deviceId)).status).toBe(200);
  expect(second.messages('launch')).toHaveLength(1);
  await second.cut();
  await calm.dispose();
});
