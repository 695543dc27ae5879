import { afterAll, beforeAll, expect, test } from 'vitest';

import { TestService } from '../../testing/test-service.ts';

// Each test starts several processes, which takes its time on a busy machine.
let service: TestService;

beforeAll(async () => {
  service = await TestService.start(1);
});
afterAll(() => service.stop());

test('a phone and a host are shared, seen by the member, and no longer shared', async () => {
  expect((await service.run(['user', 'create', 'ada'])).stdout).toContain(' --user ada\n');
  const token = await service.run(['token', 'create', 'laptop', '--user', 'ada']);
  const env = { PHALANX_TOKEN: token.stdout.trim() };
  const [device] = JSON.parse((await service.run(['devices', '--json'])).stdout).devices;
  const [host] = JSON.parse((await service.run(['hosts', '--json'])).stdout).hosts;
  expect(host).toMatchObject({ connected: true, devices: { total: 1 }, role: 'owner' });

  const said = async (...args: string[]) => (await service.run(args)).stdout;
  expect(await said('devices', 'share', device.serial, 'ada', '--role', 'view')).toBe('ada may view now.\n');
  expect(JSON.parse((await service.run(['devices', '--json'], { env })).stdout).devices).toMatchObject([
    { device_id: device.device_id, role: 'view' },
  ]);
  expect(await said('hosts', 'share', host.name, 'ada', '--role', 'launch')).toBe('ada may launch now.\n');
  expect((await service.run(['hosts'], { env })).stdout).toMatch(/connected .* launch /);
  expect(await said('devices', 'unshare', device.serial, 'ada')).toMatch(
    /^The device is no longer shared with user ada \(/,
  );
  expect(await said('hosts', 'unshare', host.id, 'ada')).toMatch(/^The host is no longer shared/);
  expect((await service.run(['hosts'], { env })).stdout).toMatch(/^No hosts yet/);
});
