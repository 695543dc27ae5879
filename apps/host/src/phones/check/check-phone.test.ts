import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPhoneTestBed, type PhoneTestBed } from '../testing/phone-test-bed.ts';
import { checkPhone, type PhoneReport } from './check-phone.ts';

let bed: PhoneTestBed;
beforeEach(async () => {
  bed = await createPhoneTestBed();
});
afterEach(async () => {
  await bed.close();
});

async function check(options: Parameters<PhoneTestBed['startPhone']>[0]): Promise<PhoneReport> {
  const address = await bed.startPreparedPhone(options);
  return await checkPhone({
    serial: undefined,
    address,
    dataDir: bed.dataDir,
    apps: ['dev.phalanx.sample.form'],
    onProgress: () => {},
    settleMs: 0,
  });
}

describe('the check of a phone', () => {
  it('finds the same on its screens by all ways, and tells no text of them', async () => {
    const report = await check({ serial: 'SIM1', profile: 'pixel', android: 13 });
    expect(report.phone).toMatchObject({ model: 'Pixel 8', sdkVersion: 33 });
    expect(report.ways.map(({ way, failure }) => [way, failure])).toEqual([
      ['uiautomator2', undefined],
      ['resident', undefined],
      ['dump', undefined],
    ]);
    const [, resident, dump] = report.ways;
    expect(Object.keys(resident?.screens ?? {})).toEqual(
      expect.arrayContaining(['home', 'notifications', 'dev.phalanx.sample.form']),
    );
    expect(resident).toMatchObject({ clipboard: true, windows: expect.any(Number) });
    expect(dump).toMatchObject({ clipboard: expect.stringContaining('UI helper') });
    const inApps = report.differences.filter(
      ({ screen }) => screen.startsWith('dev.') || screen.startsWith('com.'),
    );
    expect(inApps.length).toBeGreaterThan(5);
    for (const one of inApps) expect(one).toMatchObject({ missing_texts: 0, moved_texts: 0 });
    expect(JSON.stringify(report)).not.toMatch(/Full name|Bluetooth|SIM1/);
  });

  it('goes on when one way can not be had, and says why', async () => {
    const report = await check({ serial: 'SIM1', uiAutomator2: false });
    expect(report.ways[0]).toMatchObject({
      way: 'uiautomator2',
      failure: expect.stringContaining('Process crashed'),
    });
    expect(Object.keys(report.ways[1]?.screens ?? {}).length).toBeGreaterThan(3);
  });

  it('asks which of several phones with one serial number is meant, and takes its USB port', async () => {
    const adb = await bed.startScriptedAdb();
    const models = { pixel: '1-1', samsung: '1-2' } as const;
    for (const profile of ['pixel', 'samsung'] as const) {
      const phone = await bed.startPreparedPhone({ serial: 'SAME', profile });
      adb.plug({ serial: '0123456789ABCDEF', state: 'device', usb: models[profile], phone });
    }
    const options = {
      address: adb.address,
      dataDir: bed.dataDir,
      apps: [],
      onProgress: () => {},
      settleMs: 0,
    };
    await expect(checkPhone({ ...options, serial: '0123456789ABCDEF' })).rejects.toThrow(
      '2 phones have the serial number 0123456789ABCDEF. Name one by its USB port instead: usb:1-1, usb:1-2.',
    );
    const report = await checkPhone({ ...options, serial: 'usb:1-2' });
    expect(report.phone.brand).toBe('samsung');
  });
});
