import { freePort } from '@phalanx/simulated-phone/testing/free-port';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PhoneUnavailable } from './phone.ts';
import { hasAdb } from './testing/adb-server-fixture.ts';
import {
  createPhoneTestBed,
  type PhoneTestBed,
  waitForPhone,
  waitForState,
} from './testing/phone-test-bed.ts';
import type { PhoneWatch } from './watch-phones.ts';

let bed: PhoneTestBed;
beforeEach(async () => {
  bed = await createPhoneTestBed();
});
afterEach(async () => {
  await bed.close();
});

/** Records every state of a phone from now on. */
function recordStates(watch: PhoneWatch): string[] {
  const states: string[] = [];
  watch.onChange(({ state }) => {
    if (states.at(-1) !== state.state) states.push(state.state);
  });
  return states;
}

describe('a phone on a TCP address', () => {
  it('becomes ready with its description, and gives a driver only then', async () => {
    const phone = await bed.startPreparedPhone({ serial: 'SIM1' });
    phone.faults.bootNotCompleted = true;
    const watch = bed.watch({ addresses: [phone] });
    const booting = await waitForState(watch, 'SIM1', 'booting');
    expect(() => booting.driver()).toThrow(PhoneUnavailable);
    expect(() => booting.driver()).toThrow('SIM1 is booting');
    phone.faults.bootNotCompleted = false;
    const ready = await waitForState(watch, 'SIM1', 'ready');
    expect(ready.isIdentified).toBe(true);
    expect(ready.description).toMatchObject({
      brand: 'Phalanx',
      model: 'Simulated Phone',
      androidVersion: '15',
      sdkVersion: 35,
      screenWidth: 1080,
      screenHeight: 2400,
      densityDpi: 420,
      abis: ['arm64-v8a', 'armeabi-v7a', 'armeabi'],
    });
    expect(ready.driver().source).toBe('uiautomator2');
    expect(watch.find('SIM1')).toBe(ready);
    expect(watch.phones()).toEqual([ready]);
  });

  it('installs the UI helper when it is missing', async () => {
    const phone = await bed.startPhone({ serial: 'SIM1' });
    const watch = bed.watch({ addresses: [phone] });
    const ready = await waitForState(watch, 'SIM1', 'ready');
    expect(ready.driver().source).toBe('uiautomator2');
    expect(phone.android.packages.find('io.appium.uiautomator2.server')?.versionCode).toBeGreaterThan(0);
    expect(phone.android.packages.find('io.appium.uiautomator2.server.test')).toBeDefined();
  });

  it('is ready by the slower way when the helper can not run, and says so', async () => {
    const phone = await bed.startPreparedPhone({ serial: 'SIM1', uiAutomator2: false });
    const watch = bed.watch({ addresses: [phone], helper: 'uiautomator2' });
    const ready = await waitForState(watch, 'SIM1', 'ready');
    expect(ready.driver().source).toBe('dump');
    expect(ready.state.reason).toContain('slow way');
    expect(ready.state.reason).toContain('Process crashed');
  });

  it('is ready by the resident helper when the phone has no room for the other one, and says so', async () => {
    const phone = await bed.startPhone({ serial: 'SIM1', storageBytes: 1024 * 1024 });
    const ready = await waitForState(bed.watch({ addresses: [phone] }), 'SIM1', 'ready');
    expect(ready.driver().source).toBe('resident');
    expect(ready.state.reason).toMatch(/resident helper.*refused/);
    await expect(ready.driver().call('screen.content', {})).resolves.toMatchObject({ source: 'resident' });
  });

  it('is ready by the slower way when the phone has no room for any helper', async () => {
    const phone = await bed.startPhone({ serial: 'SIM1', storageBytes: 10 * 1024 });
    const ready = await waitForState(bed.watch({ addresses: [phone] }), 'SIM1', 'ready');
    expect(ready.driver().source).toBe('dump');
    expect(ready.state.reason).toContain('slow way');
  });

  it('waits for the user to allow this host, then becomes ready; the next host start is let in at once', async () => {
    const phone = await bed.startPreparedPhone({ serial: 'SIM1', requireAuthorization: true });
    const watch = bed.watch({ addresses: [phone] });
    const unauthorized = await waitForPhone(watch, ({ state }) => state.state === 'unauthorized');
    expect(unauthorized.state.reason).toContain('Allow USB debugging');
    expect(unauthorized.isIdentified).toBe(false);
    await phone.authorization.waitForRequest();
    phone.authorization.allow();
    await waitForState(watch, 'SIM1', 'ready');
    expect(watch.phones()).toHaveLength(1);
    await watch.close();
    const states = recordStates(bed.watch({ addresses: [phone] }));
    await expect.poll(() => states).toContain('ready');
    expect(states).not.toContain('unauthorized');
  });

  it('is offline with a reason while nothing listens, and ready soon after it does', async () => {
    const port = await freePort();
    const address = { host: '127.0.0.1', port };
    const watch = bed.watch({ addresses: [address] });
    const offline = await waitForPhone(watch, ({ state }) => state.state === 'offline');
    expect(offline.state.reason).toContain(`127.0.0.1:${port}`);
    await bed.startPreparedPhone({ serial: 'SIM1', port });
    await waitForState(watch, 'SIM1', 'ready');
    expect(watch.phones()).toHaveLength(1);
  });

  it('is offline when it accepts connections but never answers', async () => {
    const phone = await bed.startPreparedPhone({ serial: 'SIM1' });
    phone.faults.offline = true;
    const watch = bed.watch({ addresses: [phone] });
    const offline = await waitForPhone(watch, ({ state }) => state.state === 'offline');
    expect(offline.state.reason).toContain('does not answer as ADB');
    phone.faults.offline = false;
    await waitForState(watch, 'SIM1', 'ready');
  });

  it('comes back by itself after the connection broke', async () => {
    const phone = await bed.startPreparedPhone({ serial: 'SIM1' });
    const watch = bed.watch({ addresses: [phone] });
    const first = await waitForState(watch, 'SIM1', 'ready');
    const driver = first.driver();
    const states = recordStates(watch);
    phone.faults.drop();
    await expect.poll(() => states).toContain('ready');
    expect(states[0]).not.toBe('ready');
    await expect(driver.call('app.current', {})).rejects.toMatchObject({ code: 'phone_gone' });
    expect(first.driver()).not.toBe(driver);
    await expect(first.driver().call('app.current', {})).resolves.toBeDefined();
  });

  it('leaves ready when it hangs, ends the call that runs, and recovers', async () => {
    const phone = await bed.startPreparedPhone({ serial: 'SIM1' });
    const watch = bed.watch({ addresses: [phone], timings: { heartbeatMs: 100, probeTimeoutMs: 300 } });
    const ready = await waitForState(watch, 'SIM1', 'ready');
    const confirmedAt = ready.confirmedAt;
    phone.faults.hang = true;
    await expect(ready.driver().call('screen.content', {})).rejects.toMatchObject({ code: 'phone_gone' });
    await waitForState(watch, 'SIM1', 'unresponsive', 'offline');
    expect(() => ready.driver()).toThrow(PhoneUnavailable);
    phone.faults.hang = false;
    await waitForState(watch, 'SIM1', 'ready');
    expect(ready.confirmedAt).toBeGreaterThan(confirmedAt);
  });

  it('rejects the running call at once when the phone is unplugged', async () => {
    const phone = await bed.startPreparedPhone({ serial: 'SIM1' });
    const watch = bed.watch({ addresses: [phone] });
    const ready = await waitForState(watch, 'SIM1', 'ready');
    const call = ready.driver().call('input.longPress', { x: 10, y: 1000, durationMs: 15_000 });
    await expect.poll(() => ready.driver().pendingCalls).toBe(1);
    const rejected = expect(call).rejects.toMatchObject({ code: 'phone_gone' });
    await phone.stop();
    await rejected;
    await waitForState(watch, 'SIM1', 'offline');
  });

  it('ends a call at its time limit and stays ready', async () => {
    const phone = await bed.startPreparedPhone({ serial: 'SIM1', uiAutomator2: false });
    const watch = bed.watch({ addresses: [phone], timings: { callTimeoutMs: 300 } });
    const ready = await waitForState(watch, 'SIM1', 'ready');
    phone.faults.slowMs = 800;
    await expect(ready.driver().call('app.current', {})).rejects.toMatchObject({ code: 'call_timed_out' });
    phone.faults.slowMs = 0;
    await expect
      .poll(async () =>
        ready
          .driver()
          .call('app.current', {})
          .catch(() => undefined),
      )
      .toBeDefined();
    expect(ready.state.state).toBe('ready');
  });

  it('restarts the UI helper when it dies, and tells that it did', async () => {
    const phone = await bed.startPreparedPhone({ serial: 'SIM1' });
    const watch = bed.watch({ addresses: [phone] });
    const ready = await waitForState(watch, 'SIM1', 'ready');
    const driver = ready.driver();
    const states = recordStates(watch);
    phone.faults.killUiServer();
    await expect.poll(() => states).toEqual(['helper_failed', 'ready']);
    await expect(driver.call('screen.content', {})).rejects.toMatchObject({ code: 'ui_helper_failed' });
    await expect(ready.driver().call('screen.content', {})).resolves.toMatchObject({
      source: 'uiautomator2',
    });
  });

  it('waits for Android when its system starts anew below a standing connection', async () => {
    const phone = await bed.startPreparedPhone({ serial: 'SIM1' });
    const watch = bed.watch({ addresses: [phone] });
    const ready = await waitForState(watch, 'SIM1', 'ready');
    phone.faults.bootNotCompleted = true;
    phone.faults.killUiServer();
    await waitForState(watch, 'SIM1', 'booting');
    phone.faults.bootNotCompleted = false;
    await waitForState(watch, 'SIM1', 'ready');
    expect(ready.driver().source).toBe('uiautomator2');
  });

  it('is another phone when another serial answers at its address', async () => {
    const port = await freePort();
    const first = await bed.startPreparedPhone({ serial: 'SIM1', port });
    const watch = bed.watch({ addresses: [{ host: '127.0.0.1', port }] });
    await waitForState(watch, 'SIM1', 'ready');
    await first.stop();
    await bed.startPreparedPhone({ serial: 'SIM2', port });
    await waitForState(watch, 'SIM2', 'ready');
    expect(watch.find('SIM1')?.state).toMatchObject({
      state: 'offline',
      reason: expect.stringContaining('SIM2'),
    });
    expect(watch.phones().map(({ serial }) => serial)).toEqual(['SIM1', 'SIM2']);
  });

  it('leaves no connection behind when the watch is closed', async () => {
    const phone = await bed.startPreparedPhone({ serial: 'SIM1' });
    const watch = bed.watch({ addresses: [phone] });
    await waitForState(watch, 'SIM1', 'ready');
    await watch.close();
    await expect.poll(() => phone.connectionCount).toBe(0);
    expect(watch.find('SIM1')?.state.state).toBe('offline');
  });
});

describe.skipIf(!(await hasAdb()))('a phone of an adb server', () => {
  it('is followed through unplugging and plugging in again', async () => {
    const adb = await bed.startAdb();
    const phone = await bed.startPreparedPhone({ serial: 'SIM1' });
    const watch = bed.watch({ adbServer: adb.address });
    await adb.connect(phone);
    const ready = await waitForState(watch, 'SIM1', 'ready');
    await adb.disconnect(phone);
    await waitForState(watch, 'SIM1', 'offline');
    await expect.poll(() => ready.state.reason).toContain('"adb connect"');
    await adb.connect(phone);
    await waitForState(watch, 'SIM1', 'ready');
    expect(watch.phones()).toHaveLength(1);
  });

  it('is the same phone under another port, as wireless debugging has it after each restart', async () => {
    const adb = await bed.startAdb();
    const before = await bed.startPreparedPhone({ serial: 'SIM1' });
    const watch = bed.watch({ adbServer: adb.address });
    await adb.connect(before);
    const phone = await waitForState(watch, 'SIM1', 'ready');
    await before.stop();
    await waitForState(watch, 'SIM1', 'offline');
    await expect.poll(() => phone.state.reason).toContain('adb mdns services');
    await adb.connect(await bed.startPreparedPhone({ serial: 'SIM1' }));
    await waitForState(watch, 'SIM1', 'ready');
    expect(watch.phones()).toEqual([phone]);
  });

  it('is unauthorized until the user allows the server', async () => {
    const adb = await bed.startAdb();
    const phone = await bed.startPreparedPhone({ serial: 'SIM1', requireAuthorization: true });
    const watch = bed.watch({ adbServer: adb.address });
    const connecting = adb.connect(phone).catch(() => {});
    const unauthorized = await waitForPhone(watch, ({ state }) => state.state === 'unauthorized');
    expect(unauthorized.state.reason).toContain('Allow USB debugging');
    await phone.authorization.waitForRequest();
    phone.authorization.allow();
    await connecting;
    await waitForState(watch, 'SIM1', 'ready');
  });

  it('leaves ready when it hangs, although the server still lists it, and recovers', async () => {
    const adb = await bed.startAdb();
    const phone = await bed.startPreparedPhone({ serial: 'SIM1' });
    const watch = bed.watch({ adbServer: adb.address, timings: { heartbeatMs: 100, probeTimeoutMs: 300 } });
    await adb.connect(phone);
    const ready = await waitForState(watch, 'SIM1', 'ready');
    phone.faults.hang = true;
    await expect(ready.driver().call('screen.content', {})).rejects.toMatchObject({ code: 'phone_gone' });
    await waitForState(watch, 'SIM1', 'unresponsive');
    expect(await adb.adb('devices')).toMatch(/:\d+\tdevice/);
    phone.faults.hang = false;
    await waitForState(watch, 'SIM1', 'ready');
  });

  it('goes offline when the server stops, and the next one is told to connect it', async () => {
    const first = await bed.startAdb();
    const phone = await bed.startPreparedPhone({ serial: 'SIM1' });
    const reconnectPauses = { firstMs: 1000, maxMs: 1000 };
    const watch = bed.watch({ adbServer: first.address, reconnectPauses });
    await first.connect(phone);
    const ready = await waitForState(watch, 'SIM1', 'ready');
    await first.stop();
    await waitForState(watch, 'SIM1', 'offline');
    await expect.poll(() => ready.state.reason).toContain('adb start-server');
    await bed.startAdb(first.address.port);
    await expect.poll(() => ready.state.reason).toMatch(/runs again, but does not list .*"adb connect"/);
    expect(ready.state.state).toBe('offline');
    await waitForState(watch, 'SIM1', 'ready');
    expect(watch.phones()).toEqual([ready]);
  });

  it('is one phone when a direct address leads to it as well, and goes on over the other way', async () => {
    const adb = await bed.startAdb();
    const phone = await bed.startPreparedPhone({ serial: 'SIM1' });
    const watch = bed.watch({ adbServer: adb.address, addresses: [phone] });
    const ready = await waitForState(watch, 'SIM1', 'ready');
    await adb.connect(phone);
    await expect.poll(() => phone.connectionCount).toBe(2);
    // The other link counts as a separate phone until it is known to lead to this one; it is not reported.
    await expect.poll(() => watch.phones()).toEqual([ready]);
    const states = recordStates(watch);
    phone.faults.drop();
    await expect.poll(() => states).toContain('ready');
    await expect.poll(() => watch.phones()).toEqual([ready]);
  });
});
