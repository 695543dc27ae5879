import type { ScreenTree } from '@phalanx/protocol';
import { sampleApps, type SimulatedPhone } from '@phalanx/simulated-phone';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPhoneTestBed, type PhoneTestBed, waitForState } from '../../phones/testing/phone-test-bed.ts';
import type { PhoneWatch, WatchPhonesOptions } from '../../phones/watch-phones.ts';
import { callPhone } from '../../phones/call-phone.ts';
import type { Driver } from '../driver.ts';
import { findNode } from '../find-node.ts';
import { PhoneUse } from '../phone-use.ts';
import { browser } from '../testing/browser-app.ts';

let bed: PhoneTestBed;
beforeEach(async () => {
  bed = await createPhoneTestBed();
});
afterEach(async () => {
  await bed.close();
});

interface Pair {
  readonly phone: SimulatedPhone;
  readonly watch: PhoneWatch;
  readonly driver: () => Driver;
  readonly read: () => Promise<ScreenTree>;
}

async function start(
  options: Partial<Parameters<PhoneTestBed['startPhone']>[0]> = {},
  watching: Partial<WatchPhonesOptions> = {},
): Promise<Pair> {
  const phone = await bed.startPhone({ serial: 'SIM1', apps: [...sampleApps, browser], ...options });
  const watch = bed.watch({
    addresses: [phone],
    helper: 'resident',
    timings: { webPageMs: 400 },
    ...watching,
  });
  const ready = await waitForState(watch, 'SIM1', 'ready');
  const { signal } = new AbortController();
  const read = (): Promise<ScreenTree> =>
    callPhone(watch, { serial: 'SIM1', deviceId: 'd' }, { name: 'screen.content', params: {}, signal });
  return { phone, watch, driver: () => ready.driver(), read };
}

const shows = ({ root }: ScreenTree, text: string): boolean =>
  findNode(root, (node) => node.text === text) !== undefined;

describe('tier 5, the resident helper on the simulated phone', () => {
  it('installs nothing and opens no port', async () => {
    const { phone, driver } = await start();
    expect(driver().source).toBe('resident');
    expect(phone.android.packages.find('io.appium.uiautomator2.server')).toBeUndefined();
    await expect(phone.findService('tcp:6790\0')).resolves.toBeUndefined();
    const dex = phone.android.files
      .listDirectory('/data/local/tmp')
      .find(({ name }) => name.endsWith('.dex'));
    expect(dex?.name).toMatch(/^phalanx-[0-9a-f]{12}\.dex$/);
  });

  it('replaces a damaged file, and one of another build', async () => {
    const phone = await bed.startPhone({ serial: 'SIM1' });
    const first = bed.watch({ addresses: [phone], helper: 'resident' });
    await waitForState(first, 'SIM1', 'ready');
    await first.close();
    const folder = '/data/local/tmp';
    const [dex] = phone.android.files.listDirectory(folder);
    phone.android.files.writeFile(`${folder}/${dex?.name ?? ''}`, Buffer.from('damaged'));
    phone.android.files.writeFile(`${folder}/phalanx-0123456789ab.dex`, Buffer.from('older'));
    const ready = await waitForState(bed.watch({ addresses: [phone], helper: 'resident' }), 'SIM1', 'ready');
    expect(ready.driver().source).toBe('resident');
    expect(phone.android.files.listDirectory(folder).map(({ name }) => name)).toEqual([dex?.name]);
  });

  it('takes the place of the slow way on a phone that refuses packages, with the reason', async () => {
    const phone = await bed.startPhone({ serial: 'SIM1', profile: 'xiaomi' });
    phone.faults.restrictedDebugging = true;
    const ready = await waitForState(bed.watch({ addresses: [phone] }), 'SIM1', 'ready');
    expect(ready.driver().source).toBe('resident');
    expect(ready.state.reason).toContain('Install via USB');
    await expect(ready.driver().call('input.tap', { x: 5, y: 5 })).rejects.toMatchObject({
      code: 'input_refused',
      message: expect.stringContaining('Security settings'),
    });
  });

  it.each([Infinity, 1000])('shows nothing that has gone where events come %s ms late', async (lateMs) => {
    const { phone, read } = await start();
    phone.android.startActivity('com.android.settings');
    expect(shows(await read(), 'Bluetooth')).toBe(true);
    phone.faults.eventIntervalMs = lateMs;
    phone.android.startActivity('dev.phalanx.sample.surprise');
    expect(shows(await read(), 'Bluetooth')).toBe(false);
  });

  it('connects anew for a screen without a root and for an empty web page, once, and says so', async () => {
    const { phone, driver, read } = await start({}, { timings: { webPageMs: 200, renewalMs: 1000 } });
    const first = driver();
    await read();
    phone.faults.wornHelper = true;
    await expect(read()).resolves.toMatchObject({ remark: expect.stringContaining('no tree') });
    phone.faults.nullRoot = true;
    await expect(read()).rejects.toMatchObject({ code: 'screen_not_readable' });
    phone.faults.nullRoot = false;
    phone.faults.emptyWebPages = true;
    phone.android.startActivity('com.example.browser');
    await expect.poll(async () => shows(await read(), 'A headline'), { timeout: 5000 }).toBe(true);
    expect((await read()).remark).toContain('web page');
    expect(driver()).toBe(first);
  });

  it('is not held up by animations, types, and tells toasts', async () => {
    const { phone, driver, read } = await start();
    phone.faults.injectionMs = 5000;
    const began = performance.now();
    await driver().call('input.tap', { x: 5, y: 900 });
    await driver().call('input.doubleTap', { x: 5, y: 900 });
    expect(performance.now() - began).toBeLessThan(2000);
    phone.android.notices.showToast('Saved');
    expect((await read()).announced).toEqual(['Saved']);
    await driver().call('input.fingers', {
      ways: [
        { fromX: 1, fromY: 2, toX: 3, toY: 4 },
        { fromX: 5, fromY: 6, toX: 7, toY: 8 },
      ],
      durationMs: 20,
    });
    expect(phone.android.inputs.last).toMatchObject({ kind: 'fingers' });
  });

  it('types a password in several calls, which shows only its dots', async () => {
    const { phone, driver: base, read } = await start();
    const driver = base().usedBy(new PhoneUse(new AbortController().signal));
    phone.android.startActivity('dev.phalanx.sample.form');
    const field = findNode((await read()).root, ({ password }) => password)?.boundsInScreen;
    await driver.call('input.tap', { x: (field?.left ?? 0) + 10, y: (field?.top ?? 0) + 10 });
    await driver.call('input.text', { text: 'söme' });
    await driver.call('input.text', { text: ' thing' });
    expect(phone.android.findFieldText('password')).toBe('söme thing');
    expect(shows(await read(), '••••••••••')).toBe(true);
  });

  it('has UiAutomation only from the first reading on: until then others can have it', async () => {
    const { phone, driver, read } = await start();
    await driver().call('phone.shell', { command: 'uiautomator dump /sdcard/a.xml', timeoutMs: 5000 });
    await expect(read()).resolves.toMatchObject({ source: 'resident' });
    const { stderr } = await driver().call('phone.shell', {
      command: 'uiautomator dump /sdcard/b.xml',
      timeoutMs: 5000,
    });
    expect(stderr).toContain('Killed');
    expect(phone.android.files.findStat('/sdcard/a.xml')).toBeDefined();
  });

  it('is started anew when it dies, and the reading goes on', async () => {
    const { phone, driver, read } = await start();
    const first = driver();
    phone.faults.killUiServer();
    await expect
      .poll(() =>
        read().then(
          () => driver() !== first,
          () => false,
        ),
      )
      .toBe(true);
  });

  it('gives the tree of now after a reading that nobody waited for', async () => {
    const { phone, read, watch } = await start();
    await read();
    const { signal } = new AbortController();
    phone.android.startActivity('com.android.settings');
    const left = watch
      .phones()[0]
      ?.driver()
      .call('screen.content', {}, AbortSignal.any([signal, AbortSignal.timeout(1)]));
    await left?.catch(() => {});
    expect(shows(await read(), 'Bluetooth')).toBe(true);
    expect(shows(await read(), 'Bluetooth')).toBe(true);
  });
});
