import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { TestService } from '../../testing/test-service.ts';

let service: TestService;
beforeAll(async () => {
  // The resident helper can read the clipboard.
  service = await TestService.start(1, { PHALANX_HELPER: 'resident' });
});
afterAll(() => service.stop());

test('a phone is touched by hand, and its screen shows it', async () => {
  const started = await service.run(['input', 'app', 'SIM0001', 'com.android.settings']);
  expect(started).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Started com\.android\.settings on the device SIM0001/),
  });
  const { stdout } = await service.run(['screen', 'SIM0001', '--json', '--width', '16']);
  expect(JSON.parse(stdout).screen.tree.packageName).toBe('com.android.settings');
  for (const words of [
    ['key', 'SIM0001', '3'],
    ['key', 'SIM0001', 'back'],
    ['tap', 'SIM0001', '540', '20'],
    ['swipe', 'SIM0001', '540', '2000', '540', '1000'],
  ])
    expect(await service.run(['input', ...words])).toMatchObject({ code: 0 });
  expect(await service.run(['input', 'tap', 'SIM0001', 'left', '3'])).toMatchObject({ code: 2 });
  expect(await service.run(['input', 'key', 'SIM0001', 'nope'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Unknown key "nope": use back, enter, home'),
  });
  expect(await service.run(['input', 'tap', 'SIM0001', '5400', '1200'])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('The point 5400, 1200 is off the screen of 1080 × 2400 pixels'),
  });
});

test('text goes to the clipboard of a phone and comes back', async () => {
  const written = await service.run(['clipboard', 'SIM0001', 'Grüße 👋']);
  expect(written).toMatchObject({ code: 0, stdout: expect.stringContaining('SIM0001') });
  expect(await service.run(['clipboard', 'SIM0001'])).toMatchObject({ stderr: '', stdout: 'Grüße 👋\n' });
});

test('a file goes to a phone; an app is refused where its host allows none', async () => {
  await writeFile(path.join(service.folder, 'notes.bin'), Buffer.alloc(1_300_000, 7));
  expect(await service.run(['send', 'SIM0001', 'notes.bin'])).toMatchObject({
    code: 0,
    stdout: 'The device SIM0001 has the file: /sdcard/Download/notes.bin. Apps can see it.\n',
  });
  await writeFile(path.join(service.folder, 'shop.apk'), 'no app');
  expect(await service.run(['send', 'SIM0001', 'shop.apk'])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('PHALANX_ALLOW_APP_CHANGES'),
  });
  expect(await service.run(['send', 'SIM0001', 'nothing.txt'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('The file nothing.txt does not exist'),
  });
});

test('the apps of a phone are listed', async () => {
  expect((await service.run(['devices', 'apps', 'SIM0001'])).stdout).toContain('dev.phalanx.sample.form\n');
  const { stdout } = await service.run(['devices', 'apps', 'SIM0001', '--all', '--json']);
  expect(JSON.parse(stdout).apps).toContainEqual({ package_name: 'com.android.systemui', is_system: true });
});

test('a phone is leased and given back', async () => {
  const taken = await service.run(['lease', 'SIM0001', '--minutes', '10']);
  expect(taken).toMatchObject({ code: 0, stdout: expect.stringContaining('You control SIM0001 until') });
  const { stdout } = await service.run(['devices']);
  expect(stdout).toMatch(/SIM0001 +busy .*Controlled by hand by/);
  const ended = await service.run(['lease', 'SIM0001', '--end']);
  expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/SIM0001 .*is free/) });
});
