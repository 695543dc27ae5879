/** Calls that check their own effect, on phones that do nothing and report nothing. */
import type { SimulatedPhone } from '@phalanx/simulated-phone';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { createPhoneTestBed, type PhoneTestBed } from '../phones/testing/phone-test-bed.ts';
import type { Driver } from './driver.ts';

const app = { packageName: 'dev.phalanx.sample.form' };
const launcher = 'dev.phalanx.sample.launcher';

describe.each(['uiautomator2', 'resident', 'dump'] as const)('by %s, a call that is not done', (way) => {
  let bed: PhoneTestBed;
  let phone: SimulatedPhone;
  let driver: Driver;

  beforeAll(async () => {
    bed = await createPhoneTestBed();
    ({ phone, driver } = await bed.startDriven(way, {}));
  });
  afterEach(() => phone.faults.clear());
  afterAll(() => bed.close());

  it('stops no app that Android protects, and every other one', async () => {
    phone.faults.protectedApps = [app.packageName];
    await driver.call('app.launch', app);
    await expect(driver.call('app.stop', app)).rejects.toMatchObject({
      code: 'not_done',
      message: expect.stringContaining(`did not stop ${app.packageName}: its process still runs`),
    });
    phone.faults.clear();
    await driver.call('app.stop', app);
    expect(phone.android.currentPackage).toBe(launcher);
    // Neither an app that does not run, nor one that Android restarts at once.
    await driver.call('app.stop', app);
    await driver.call('app.stop', { packageName: launcher });
  });

  it('opens no shade where the status bar is closed', async () => {
    phone.faults.statusBarDisabled = true;
    await expect(driver.call('navigate.notifications', {})).rejects.toMatchObject({
      code: 'not_done',
      message: expect.stringContaining(`${launcher} has the focus`),
    });
    phone.faults.clear();
    await driver.call('navigate.notifications', {});
    expect(phone.android.overlay).toBe('shade');
    await driver.call('navigate.home', {});
  });

  it('turns the screen, and says so where the phone keeps it', async () => {
    await driver.call('screen.rotate', { quarterTurns: 1 });
    expect(phone.android.rotation).toBe(1);
    phone.faults.keepsSettings = true;
    await expect(driver.call('screen.rotate', { quarterTurns: 0 })).rejects.toMatchObject({
      code: 'not_done',
      message: expect.stringContaining('its setting user_rotation is "1"'),
    });
    phone.faults.clear();
    await driver.call('screen.rotate', { quarterTurns: 0 });
  });
});
