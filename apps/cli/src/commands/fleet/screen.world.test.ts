import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { deviceRoutes } from '@phalanx/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { adminToken, TestService } from '../../testing/test-service.ts';

let service: TestService;
beforeAll(async () => {
  service = await TestService.start(1);
});
afterAll(() => service.stop());

test('the screen of a phone is a tree as text, and a picture in a file', async () => {
  const { code, stdout, stderr } = await service.run([
    'screen',
    'SIM0001',
    '--picture',
    'screen.jpg',
    '--width',
    '300',
  ]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: 'The picture was saved to screen.jpg.\n' });
  expect(stdout).toMatch(/^FrameLayout .*\n {2}/);
  expect(stdout).toMatch(/\(Settings\) clickable .*\d+,\d+ \d+,\d+$/m);
  const picture = await readFile(path.join(service.folder, 'screen.jpg'));
  expect(picture.subarray(0, 3).toString('hex')).toBe('ffd8ff');
});

test('its compact form has a numbered line for what can be read or touched, and fewer letters', async () => {
  const { code, stdout } = await service.run(['screen', 'SIM0001', '--compact']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^screen \w{8}-\w{6}\napp "[a-z.]+", 1080×2400\n1 /);
  expect(stdout).toMatch(/^ *\d+ \w+ "Settings"/m);
  expect(stdout).toMatch(/\nleft out: \d+ nodes .*\d+ not visible\n$/);
  const whole = await service.run(['screen', 'SIM0001']);
  expect(stdout.length).toBeLessThan(whole.stdout.length / 1.5);
});

test('as JSON it is the reply of the API', async () => {
  const { stdout } = await service.run(['screen', 'SIM0001', '--json', '--width', '100']);
  expect(JSON.parse(stdout)).toMatchObject({
    success: true,
    screen: {
      rotation: 0,
      width: 1080,
      height: 2400,
      picture: { mime_type: 'image/jpeg' },
      tree: { root: { children: expect.any(Array) } },
    },
  });
});

test('a screen that is still the same is not sent again', async () => {
  const [device] = (await service.api.call(deviceRoutes.list)).devices;
  const url = `${service.url}/api/v2/devices/${device?.device_id}/screen`;
  const headers = { authorization: `Bearer ${adminToken}` };
  const etag = (await fetch(url, { headers })).headers.get('etag') ?? '';
  const again = await fetch(url, { headers: { ...headers, 'if-none-match': etag } });
  expect([again.status, await again.text()]).toEqual([304, '']);
});

test('a phone that is not there is refused', async () => {
  expect(await service.run(['screen', 'SIM0009'])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('SIM0009'),
  });
});
