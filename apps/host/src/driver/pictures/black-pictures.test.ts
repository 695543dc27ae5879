import {
  defineApp,
  sampleApps,
  type SimulatedPhone,
  type SimulatedPhoneOptions,
} from '@phalanx/simulated-phone';
import sharp from 'sharp';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HelperChoice } from '../../config.ts';
import { createPhoneTestBed, type PhoneTestBed, waitForState } from '../../phones/testing/phone-test-bed.ts';
import type { Driver } from '../driver.ts';
import { DriverError } from '../driver-error.ts';
import { encodeScreenshot, justTaken, rawPicture } from './taken-picture.ts';

let bed: PhoneTestBed;
beforeEach(async () => {
  bed = await createPhoneTestBed();
});
afterEach(() => bed.close());

const packageName = 'dev.phalanx.black';
const whole = { left: 0, top: 0, right: 1080, bottom: 2400 };
/** App that draws black by itself, over the system bars too. */
const player = defineApp({
  packageName,
  label: 'Player',
  icon: '',
  color: '#000000',
  isHome: true,
  state: () => ({}),
  activities: {
    '.Player': () => () => ({
      className: 'android.view.SurfaceView',
      packageName,
      frame: whole,
      paint: (canvas) => canvas.rect(whole, '#000000'),
    }),
  },
});
const options: Partial<SimulatedPhoneOptions> = { apps: [player], fullScreenApps: [packageName] };

type Way = Driver['source'];

async function startPair(
  way: Way,
  more: Partial<SimulatedPhoneOptions> = {},
): Promise<{ phone: SimulatedPhone; driver: Driver }> {
  const helper: HelperChoice = way === 'resident' ? 'resident' : 'uiautomator2';
  const phone = await bed.startPreparedPhone({
    serial: 'SIM1',
    uiAutomator2: way === 'uiautomator2',
    ...more,
  });
  const ready = await waitForState(bed.watch({ addresses: [phone], helper }), 'SIM1', 'ready');
  return { phone, driver: ready.driver() };
}

const ways: readonly Way[] = ['uiautomator2', 'resident', 'dump'];

describe.each(ways)('a black picture by %s', (way) => {
  it('is given with a remark where an app is black by itself', async () => {
    const { driver } = await startPair(way, options);
    const remark = expect.stringContaining('does not tell why');
    expect(await driver.call('screen.screenshot', { maxWidth: 100 })).toMatchObject({ width: 100, remark });
    const { root } = await driver.call('screen.content', {});
    const taken = await driver.takePictureOf({ root, form: { maxWidth: 100 } });
    expect(await taken?.finish()).toMatchObject({ width: 100, remark });
    expect(await (await driver.takeLivePicture()).finish()).toMatchObject({ remark });
  });

  it.each([11, 15, 8] as const)('has a ban as its cause where Android %i tells of one', async (android) => {
    const { phone, driver } = await startPair(way, { android });
    phone.faults.secureWindow = true;
    const banned = {
      code: 'secure_screen',
      message: expect.stringMatching(/window of \S+ forbids pictures .*FLAG_SECURE.* by ".*fl=/),
    };
    await expect(driver.call('screen.screenshot', {})).rejects.toMatchObject(banned);
    const { root } = await driver.call('screen.content', {});
    const pictureOf = async (): Promise<unknown> =>
      (await driver.takePictureOf({ root, form: {} }))?.finish();
    await expect(pictureOf()).rejects.toMatchObject(banned);
  });

  it('has the word of who manages the phone as its cause', async () => {
    const { phone, driver } = await startPair(way, { apps: sampleApps });
    phone.faults.forbidsCapture = true;
    await expect(driver.call('screen.screenshot', {})).rejects.toMatchObject({
      code: 'secure_screen',
      message: expect.stringContaining('"Screen capture disallowed users: [-1]"'),
    });
  });
});

it('the screen that is off is told as it is', async () => {
  const { phone, driver } = await startPair('dump');
  phone.faults.turnScreenOff();
  await expect(driver.call('screen.screenshot', {})).rejects.toMatchObject({
    code: 'screen_not_readable',
    message: expect.stringContaining('the screen is off, as the phone tells by "mWakefulness=Asleep"'),
  });
});

const pictureOf = (background: string): Promise<Buffer> =>
  sharp({ create: { width: 108, height: 240, channels: 3, background } })
    .png()
    .toBuffer();
const all = { left: 0, top: 0, right: 108, bottom: 240 };
const ban = new DriverError('secure_screen', 'A ban.');

describe('what covers a picture', () => {
  it('is the cause where it covers all that the phone shows', async () => {
    const asked = { hidden: () => [all], explain: async () => ban };
    await expect(encodeScreenshot(await pictureOf('#246'), {}, asked)).rejects.toThrow('masks.json');
  });

  it('is none where the picture was black before', async () => {
    const hidden = () => [all];
    expect(await encodeScreenshot(await pictureOf('#000'), {}, { hidden })).toHaveProperty('remark');
  });
});

it('a picture that was just taken asks at once why it is black, and once', async () => {
  let asked = 0;
  const explain = async (): Promise<undefined> => void (asked += 1);
  const black = await justTaken(await pictureOf('#000'), {}, explain);
  expect(asked).toBe(1);
  expect(await black.finish()).toHaveProperty('remark');
  expect(asked).toBe(1);
  expect(await (await justTaken(await pictureOf('#fff'), {}, explain)).finish()).not.toHaveProperty('remark');
  await rawPicture(await pictureOf('#fff'), {}, explain).finish();
  expect(asked).toBe(1);
});
