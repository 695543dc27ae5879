import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SimulatedPhone } from '@phalanx/simulated-phone';
import { createPhoneTestBed, type PhoneTestBed } from '../phones/testing/phone-test-bed.ts';
import { waitForPhone, waitForState } from '../phones/testing/wait-for-phone.ts';
import type { Driver } from './driver.ts';

let bed: PhoneTestBed;
beforeEach(async () => {
  bed = await createPhoneTestBed();
});
afterEach(async () => {
  await bed.close();
});

async function startPair(source: Driver['source']): Promise<{ phone: SimulatedPhone; driver: Driver }> {
  const phone = await bed.startPreparedPhone({ serial: 'SIM1', uiAutomator2: source === 'uiautomator2' });
  const watch = bed.watch({ addresses: [phone] });
  const driver = (await waitForState(watch, 'SIM1', 'ready')).driver();
  return { phone, driver };
}

describe('the fallback driver', () => {
  it('tells the story when "uiautomator dump" gives no tree, and reads again when it does', async () => {
    const { phone, driver } = await startPair('dump');
    phone.faults.uiautomator = 'idle';
    await expect(driver.call('screen.content', {})).rejects.toMatchObject({
      code: 'screen_not_readable',
      message: expect.stringMatching(/SIM1.*3 attempts.*could not get idle state.*moves all the time/s),
    });
    phone.faults.uiautomator = 'null-root';
    await expect(driver.call('screen.content', {})).rejects.toMatchObject({
      code: 'screen_not_readable',
      message: expect.stringContaining('null root node'),
    });
    phone.faults.uiautomator = 'killed';
    await expect(driver.call('screen.content', {})).rejects.toMatchObject({
      code: 'screen_not_readable',
      message: expect.stringContaining('Killed'),
    });
    phone.faults.uiautomator = 'noise-before-xml';
    await expect(driver.call('screen.content', {})).resolves.toMatchObject({ source: 'dump' });
  });

  it('does not take an older dump for the screen of now, and leaves no file behind', async () => {
    const { phone, driver } = await startPair('dump');
    await driver.call('screen.content', {});
    phone.faults.uiautomator = 'idle';
    await expect(driver.call('screen.content', {})).rejects.toMatchObject({ code: 'screen_not_readable' });
    const names = phone.android.files.listDirectory('/data/local/tmp').map(({ name }) => name);
    expect(names.filter((name) => name.startsWith('phalanx'))).toEqual([]);
  });

  it('says that the screen is off', async () => {
    const { phone, driver } = await startPair('dump');
    phone.faults.turnScreenOff();
    phone.faults.uiautomator = 'null-root';
    await expect(driver.call('screen.content', {})).rejects.toMatchObject({
      message: expect.stringContaining('WAKEUP (224)'),
    });
    phone.faults.uiautomator = undefined;
    await driver.call('input.key', { keyCode: 224 });
    expect(phone.android.isScreenOn).toBe(true);
  });
});

describe('the UiAutomator2 driver', () => {
  it('says that the app forbids pictures, while the tree can still be read', async () => {
    const { phone, driver } = await startPair('uiautomator2');
    phone.faults.secureWindow = true;
    await expect(driver.call('screen.screenshot', {})).rejects.toMatchObject({ code: 'secure_screen' });
    await expect(driver.call('screen.content', {})).resolves.toMatchObject({ source: 'uiautomator2' });
  });

  it('works on with the screen off, and wakes it', async () => {
    const { phone, driver } = await startPair('uiautomator2');
    phone.faults.turnScreenOff();
    const outcome = await driver.call('screen.content', {}).then(
      () => 'read',
      (error: unknown) => (error instanceof Error && 'code' in error ? error.code : error),
    );
    expect(['read', 'screen_not_readable']).toContain(outcome);
    await driver.call('input.key', { keyCode: 224 });
    expect(phone.android.isScreenOn).toBe(true);
  });

  it('survives a link that is cut in the middle of an answer', async () => {
    const phone = await bed.startPreparedPhone({ serial: 'SIM1' });
    const watch = bed.watch({ addresses: [phone] });
    const ready = await waitForState(watch, 'SIM1', 'ready');
    const first = ready.driver();
    phone.faults.dropAfterBytes = 1;
    await expect(first.call('screen.screenshot', {})).rejects.toMatchObject({ code: 'phone_gone' });
    phone.faults.dropAfterBytes = undefined;
    // The call may hear of the cut before the phone's state does.
    await waitForPhone(watch, (other) => other.state.state === 'ready' && other.driver() !== first);
    await expect(ready.driver().call('screen.screenshot', {})).resolves.toMatchObject({
      mimeType: 'image/jpeg',
    });
  });
});
