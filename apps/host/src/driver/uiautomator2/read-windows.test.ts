import { afterEach, beforeEach, expect, it } from 'vitest';
import { createPhoneTestBed, type PhoneTestBed, waitForPhone } from '../../phones/testing/phone-test-bed.ts';

let bed: PhoneTestBed;
beforeEach(async () => {
  bed = await createPhoneTestBed();
});
afterEach(() => bed.close());

it('the active window alone is read again after a reading of all that was given up', async () => {
  const simulated = await bed.startPreparedPhone({ serial: 'SIM1' });
  const phone = await waitForPhone(
    bed.watch({ addresses: [simulated] }),
    ({ state }) => state.state === 'ready',
  );
  const driver = phone.driver();
  const before = await driver.call('screen.content', {});
  const caller = new AbortController();
  simulated.faults.beforeReading = () => caller.abort(new Error('stopped'));
  await expect(driver.call('screen.windows', {}, caller.signal)).rejects.toMatchObject({
    code: 'call_cancelled',
  });
  simulated.faults.beforeReading = undefined;
  expect((await driver.call('screen.content', {})).root).toEqual(before.root);
});
