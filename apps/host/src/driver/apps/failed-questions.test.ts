import { defineApp, sampleApps, type SimulatedPhone } from '@phalanx/simulated-phone';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createPhoneTestBed, type PhoneTestBed, waitForState } from '../../phones/testing/phone-test-bed.ts';
import type { Driver } from '../driver.ts';

type Options = Parameters<PhoneTestBed['startPreparedPhone']>[0];
type Programs = NonNullable<Options['programs']>;
type Program = Programs extends ReadonlyMap<string, infer One> ? One : never;

let bed: PhoneTestBed;
beforeEach(async () => {
  bed = await createPhoneTestBed();
});
afterEach(() => bed.close());

async function startPair(options: Partial<Options> = {}): Promise<{ phone: SimulatedPhone; driver: Driver }> {
  const phone = await bed.startPreparedPhone({ serial: 'SIM1', ...options });
  const ready = await waitForState(bed.watch({ addresses: [phone] }), 'SIM1', 'ready');
  return { phone, driver: ready.driver() };
}

const unexpected = (text: string): unknown =>
  expect.objectContaining({
    code: 'phone_answer_unexpected',
    message: expect.stringContaining(text),
  });
const packageName = 'com.android.settings';

describe('a question that the phone does not answer', () => {
  it.each([
    ['app.list', {}],
    ['user.list', {}],
    ['app.stop', { packageName }],
    ['app.uninstall', { packageName }],
    ['app.clearData', { packageName }],
    ['app.launch', { packageName: 'dev.phalanx.sample.form' }],
    ['app.setPermission', { packageName, permission: 'android.permission.CAMERA', isGranted: true }],
  ] as const)('fails %s while the package service is gone', async (name, params) => {
    const { phone, driver } = await startPair();
    phone.faults.missingServices = ['package'];
    await expect(driver.call(name, params)).rejects.toEqual(unexpected("Can't find service: package"));
  });

  it('fails who is limited to an app before its home screen is known', async () => {
    const { phone, driver } = await startPair();
    phone.faults.missingServices = ['package'];
    await expect(
      driver.limitedTo({ apps: ['dev.phalanx.sample.form'], token: 'agent' }).call('screen.content', {}),
    ).rejects.toEqual(unexpected("Can't find service: package"));
  });
});

/** Output that is no list of packages, by what the program does when it is asked for one. */
const broken: readonly (readonly [string, string, (...args: Parameters<Program>) => Promise<number>])[] = [
  ['nothing', 'not one that Android gives', async () => 0],
  ['an exit code', 'exit code 137', async () => 137],
  [
    'an error with exit code 0',
    'Error: java.lang.IllegalStateException',
    async ({ stderr }) => {
      await stderr.write('Error: java.lang.IllegalStateException\n');
      return 0;
    },
  ],
  [
    'an error before the apps of the system',
    'Error: java.lang.IllegalStateException',
    async ({ args, stdout, stderr }) => {
      if (args.includes('-3')) await stderr.write('Error: java.lang.IllegalStateException\n');
      else await stdout.write('package:android\n');
      return 0;
    },
  ],
  [
    'apps of users alone',
    'not one that Android gives',
    async ({ stdout, args }) => {
      if (args.includes('-3')) await stdout.write('package:com.example\n');
      return 0;
    },
  ],
  [
    'apps of the system alone',
    'exit code 1',
    async ({ stdout, args }) => {
      if (args.includes('-3')) return 1;
      await stdout.write('package:android\n');
      return 0;
    },
  ],
];

it.each(broken)('a list of apps is none when the phone gives %s', async (_, said, list) => {
  let isBroken = false;
  const programs: Programs = new Map([
    [
      'pm',
      async (process) => {
        if (isBroken) return await list(process);
        if (process.args[0] === 'path')
          await process.stdout.write('package:/system/framework/framework-res.apk\n');
        return 0;
      },
    ],
  ]);
  const { driver } = await startPair({ programs, uiAutomator2: false });
  isBroken = true;
  await expect(driver.call('app.list', {})).rejects.toEqual(unexpected(said));
});

describe('a file', () => {
  const path = '/sdcard/Download/report.csv';
  const partBytes = 100_000;

  it('that may not be read is an error, as is a folder', async () => {
    const { phone, driver } = await startPair();
    const { files } = phone.android;
    files.writeFile(path, Buffer.from('name,amount\n'));
    files.forbid(path);
    files.forbid('/data');
    const refused = expect.objectContaining({ code: 'file_not_found' });
    await expect(driver.call('file.read', { path, part: 0, partBytes })).rejects.toEqual(refused);
    await expect(driver.call('file.list', { path: '/data' })).rejects.toEqual(refused);
  });

  it('that became shorter is an error', async () => {
    const { phone, driver } = await startPair({
      programs: new Map([
        [
          'stat',
          async ({ stdout }) => {
            await stdout.write('250000\n');
            return 0;
          },
        ],
      ]),
    });
    phone.android.files.writeFile(path, Buffer.alloc(150_000, 1));
    const first = await driver.call('file.read', { path, part: 0, partBytes });
    expect(Buffer.from(first.base64, 'base64')).toEqual(Buffer.alloc(partBytes, 1));
    for (const part of [1, 2])
      await expect(driver.call('file.read', { path, part, partBytes })).rejects.toEqual(
        unexpected('became shorter'),
      );
  });

  it('without a size is read to its end', async () => {
    const { phone, driver } = await startPair();
    phone.android.files.writeFile(path, Buffer.alloc(0));
    const empty = await driver.call('file.read', { path, part: 0, partBytes });
    expect(empty).toEqual({ base64: '', sizeBytes: 0 });
    const uptime = await driver.call('file.read', { path: '/proc/uptime', part: 0, partBytes });
    expect(Buffer.from(uptime.base64, 'base64').toString()).toMatch(/^[\d.]+ [\d.]+\n$/);
    expect(uptime.sizeBytes).toBe(Buffer.from(uptime.base64, 'base64').length);
  });

  it('may end as the answer of the phone does', async () => {
    const { phone, driver } = await startPair();
    const content = Buffer.from('x\nended 1\n');
    phone.android.files.writeFile(path, content);
    const read = await driver.call('file.read', { path, part: 0, partBytes });
    expect(read).toEqual({ base64: content.toString('base64'), sizeBytes: content.length });
  });
});

describe('the start of an app', () => {
  const view = (name: string) => () => ({
    className: 'android.widget.FrameLayout',
    packageName: name,
    frame: { left: 0, top: 0, right: 1080, bottom: 2400 },
  });
  const look = { label: 'Report', icon: 'M0 0h24v24H0z', color: '#333333', state: () => ({}) };
  const report = defineApp({
    ...look,
    packageName: 'com.report',
    activities: { '.ExceptionReportActivity': () => view('com.report') },
  });
  const shop = defineApp({
    ...look,
    packageName: 'com.shop',
    links: ['shop:'],
    activities: { '.ErrorActivity': () => view('com.shop') },
  });
  const apps = [...sampleApps, report, shop];

  it('is told by its status, not by the words in names and addresses', async () => {
    const { phone, driver } = await startPair({ apps, workProfilePackages: ['com.report'] });
    for (const user of [undefined, 10])
      await driver.call('app.launch', { packageName: 'com.report', ...(user && { user }) });
    for (const url of ['shop://ExceptionalDeals', 'shop://a\nError: no\nStatus: none']) {
      phone.android.goHome();
      await driver.call('app.openLink', { url });
      expect(phone.android.currentPackage).toBe('com.shop');
    }
  });

  it('is not told by a status in an address', async () => {
    const { driver } = await startPair({ apps });
    const url = 'none://a\nStatus: ok\nComplete';
    await expect(driver.call('app.openLink', { url })).rejects.toMatchObject({ code: 'app_not_found' });
  });
});
