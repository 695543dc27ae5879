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
  expect(await said('devices', 'share', device.serial, 'ada', '--role', 'view')).toBe(
    'ada now has the role view.\n',
  );
  expect(JSON.parse((await service.run(['devices', '--json'], { env })).stdout).devices).toMatchObject([
    { device_id: device.device_id, role: 'view' },
  ]);
  expect(await said('hosts', 'share', host.name, 'ada', '--role', 'launch')).toBe(
    'ada now has the role launch.\n',
  );
  const asAda = async (...args: string[]) => service.run(args, { env });
  expect((await asAda('hosts')).stdout).toMatch(/connected .* launch, waiting /);
  expect((await asAda('shares', '--waiting')).stdout).toMatch(/host .* waiting /);
  const apps = ['devices', 'apps', device.serial];
  expect((await asAda(...apps)).stderr).toMatch(/is shared with you by .*, but you have not accepted it/);
  expect((await asAda('shares', 'accept', 'host', host.name)).stdout).toMatch(/^Accepted the host .*\.\n$/);
  const [share] = JSON.parse((await asAda('shares', '--json')).stdout).shares;
  expect(share).toMatchObject({ kind: 'device', id: device.device_id, accepted_at: null });
  expect(await asAda(...apps)).toMatchObject({ code: 0 });
  expect((await asAda('hosts')).stdout).toMatch(/connected .* launch /);
  expect(await said('devices', 'unshare', device.serial, 'ada')).toMatch(
    /^The device is no longer shared with user ada \(/,
  );
  expect((await asAda('shares', 'refuse', 'host', host.name)).stdout).toMatch(
    /^The host is no longer shared/,
  );
  expect((await service.run(['hosts'], { env })).stdout).toMatch(/^No hosts yet/);
});

test('the hosts of a user are allowed the secrets of a project, and denied them', async () => {
  await service.run(['user', 'create', 'ben']);
  await service.run(['project', 'create', 'shop', '--no-folder']);
  const said = async (...args: string[]) => (await service.run([...args, '--project', 'shop'])).stdout;
  expect(await said('secret', 'allowed')).toMatch(/^Only hosts of the owner and the editors/);
  expect(await said('secret', 'allow', 'ben')).toBe("Hosts of ben now receive the project's secrets.\n");
  expect(await said('secret', 'allowed')).toMatch(/ben /);
  expect(await said('secret', 'deny', 'ben')).toMatch(/no longer get the secrets of "shop"/);
});

test('a phone is forgotten when somebody says yes, and only while it is gone', async () => {
  const [device] = JSON.parse((await service.run(['devices', '--json'])).stdout).devices;
  expect(await service.run(['devices', 'remove', device.serial])).toMatchObject({
    code: 2,
    stderr: 'Nothing was removed: confirm with "y", or pass --yes.\n',
  });
  const busy = await service.run(['devices', 'remove', device.serial, '--yes']);
  expect([busy.code, busy.stderr]).toEqual([3, expect.stringContaining('unplug it or stop its host')]);
  const { devices } = JSON.parse((await service.run(['devices', '--json'])).stdout);
  expect(devices).toHaveLength(1);
});
