import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { OtherDisplay, SimulatedPhone, View } from '@phalanx/simulated-phone';
import type { HelperChoice } from '../config.ts';
import { createPhoneTestBed, type PhoneTestBed, waitForState } from '../phones/testing/phone-test-bed.ts';
import type { Driver } from './driver.ts';

let bed: PhoneTestBed;
beforeEach(async () => {
  bed = await createPhoneTestBed();
});
afterEach(() => bed.close());

const cluster = (texts: readonly string[], isListedFirst: boolean): OtherDisplay => {
  const frame = { left: 0, top: 0, right: 2880, bottom: 1800 };
  const viewOf = (text: string): View => ({
    className: 'android.widget.Button',
    packageName: 'com.car.cluster',
    resourceId: 'com.car.cluster:id/net',
    text,
    frame: { left: 2000, top: 100, right: 2400, bottom: 300 },
  });
  const root = {
    className: 'android.widget.FrameLayout',
    packageName: 'com.car.cluster',
    frame,
    children: texts.map((text) => viewOf(text)),
  };
  return {
    id: 2,
    physicalId: '4619827551948147201',
    width: 2880,
    height: 1800,
    density: 160,
    isListedFirst,
    activity: 'com.car.cluster/.Main',
    focus: 'com.car.cluster/com.car.cluster.Main',
    windows: [{ title: 'com.car.cluster/com.car.cluster.Main', focusable: true, root }],
  };
};

async function startPair(
  helper: HelperChoice,
  android: 11 | 15 = 15,
): Promise<{ phone: SimulatedPhone; driver: Driver }> {
  const phone = await bed.startPreparedPhone({
    serial: 'SIM1',
    android,
    uiAutomator2: helper === 'uiautomator2',
  });
  const ready = await waitForState(bed.watch({ addresses: [phone], helper }), 'SIM1', 'ready');
  return { phone, driver: ready.driver() };
}

describe.each([true, false])('a phone that lists another display first: %s', (isFirst) => {
  it('is read and waited for as if it had the main one alone', async () => {
    const { phone, driver } = await startPair('uiautomator2');
    const alone = await driver.call('screen.content', {});
    const windows = await driver.call('screen.windows', {});
    phone.faults.listsAllDisplays = true;
    phone.android.otherDisplays = [cluster(['Network'], isFirst)];
    const { capturedAt: _, ...tree } = await driver.call('screen.content', {});
    expect(alone).toMatchObject(tree);
    expect(await driver.call('screen.windows', {})).toEqual(windows);
  });

  it.each([
    ['uiautomator2', 15],
    ['uiautomator2', 11],
    ['resident', 15],
  ] as const)('has its main display in pictures, by %s on Android %i', async (helper, android) => {
    const { phone, driver } = await startPair(helper, android);
    phone.android.otherDisplays = [cluster([], isFirst)];
    const size = { originalWidth: 1080, originalHeight: 2400 };
    expect(await driver.call('screen.screenshot', { maxWidth: 100 })).toMatchObject(size);
    const { root } = await driver.call('screen.content', {});
    const picture = await driver.takePictureOf({ root, form: { maxWidth: 100 } });
    expect(await picture?.finish()).toMatchObject(size);
    expect(await (await driver.takeLivePicture()).finish()).toMatchObject(size);
  });
});

it('takes the panel that is the main display at that moment', async () => {
  const { phone, driver } = await startPair('resident');
  phone.android.otherDisplays = [cluster([], true)];
  const size = async (): Promise<number> =>
    (await driver.call('screen.screenshot', { maxWidth: 100 })).originalWidth;
  expect(await size()).toBe(1080);
  // A foldable without its cover has one panel again; the number of panels is queried once.
  phone.android.otherDisplays = [];
  expect(await size()).toBe(1080);
});

it('has no picture while it does not tell which of its panels is the main display', async () => {
  const { phone, driver } = await startPair('resident');
  phone.android.otherDisplays = [cluster([], true)];
  const size = async (): Promise<number> =>
    (await driver.call('screen.screenshot', { maxWidth: 100 })).originalWidth;
  const unclear = { code: 'screen_not_readable', message: expect.stringContaining('2 panels') };
  phone.faults.missingServices = ['SurfaceFlinger'];
  await size();
  phone.faults.missingServices = ['display'];
  await expect(size()).rejects.toMatchObject(unclear);
  phone.faults.missingServices = [];
  expect(await size()).toBe(1080);
  // An app chooses the name of its virtual display.
  const named = `', displayId=0, uniqueId='local:4619827551948147201', name='`;
  const virtual: OtherDisplay = { ...cluster([], false), id: 7, physicalId: undefined, name: named };
  phone.android.otherDisplays = [cluster([], true), virtual];
  await expect(size()).rejects.toMatchObject(unclear);
});
