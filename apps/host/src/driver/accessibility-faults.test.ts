import type { ScreenTree } from '@phalanx/protocol';
import { sampleApps, type SimulatedPhone } from '@phalanx/simulated-phone';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPhoneTestBed, type PhoneTestBed } from '../phones/testing/phone-test-bed.ts';
import { waitForState } from '../phones/testing/wait-for-phone.ts';
import type { PhoneWatch } from '../phones/watch-phones.ts';
import { callPhone } from '../phones/call-phone.ts';
import type { Driver } from './driver.ts';
import { findNode } from './find-node.ts';
import { browser } from './testing/browser-app.ts';

let bed: PhoneTestBed;
beforeEach(async () => {
  bed = await createPhoneTestBed();
});
afterEach(async () => {
  await bed.close();
});

/** Below what the helper may take for a tree, so that a test of a null root takes no ten seconds. */
const patience = { treeMs: 200, inputMs: 300, webPageMs: 400 };

interface Pair {
  readonly phone: SimulatedPhone;
  readonly watch: PhoneWatch;
  readonly driver: () => Driver;
  /** As a run reads the screen. */
  readonly read: () => Promise<ScreenTree>;
}

async function start(): Promise<Pair> {
  const phone = await bed.startPreparedPhone({ serial: 'SIM1', apps: [...sampleApps, browser] });
  const watch = bed.watch({ addresses: [phone], patience });
  const ready = await waitForState(watch, 'SIM1', 'ready');
  const { signal } = new AbortController();
  const read = (): Promise<ScreenTree> =>
    callPhone(watch, { serial: 'SIM1', deviceId: 'd' }, { name: 'screen.content', params: {}, signal });
  return { phone, watch, driver: () => ready.driver(), read };
}

const shows = ({ root }: ScreenTree, text: string): boolean =>
  findNode(root, (node) => node.text === text) !== undefined;

describe('an app that tells accessibility little', () => {
  it.each([
    { kind: 'nothing of its changes, as some widgets', eventIntervalMs: Infinity },
    { kind: 'its changes a second late, as web pages and Compose', eventIntervalMs: 1000 },
  ])('tells $kind: no read shows what has gone', async ({ eventIntervalMs }) => {
    const { phone, read } = await start();
    phone.android.startActivity('com.android.settings');
    expect(shows(await read(), 'Bluetooth')).toBe(true);
    phone.faults.eventIntervalMs = eventIntervalMs;
    phone.android.startActivity('dev.phalanx.sample.surprise');
    const tree = await read();
    expect(shows(tree, 'Bluetooth')).toBe(false);
    expect(shows(tree, 'Tap me')).toBe(true);
  });
});

describe('a screen without a root', () => {
  it('is read by a new helper when the old one has worn out, without an error for the caller', async () => {
    const { phone, watch, driver, read } = await start();
    const first = driver();
    phone.faults.wornHelper = true;
    await expect(read()).resolves.toMatchObject({ source: 'uiautomator2' });
    expect(driver()).not.toBe(first);
    expect(watch.phones()[0]?.history.list()).not.toContainEqual(expect.objectContaining({ kind: 'repair' }));
  });

  it('is told within its limit, with the windows that are there, and does not block the calls after it', async () => {
    const { phone, driver, read } = await start();
    phone.faults.nullRoot = true;
    await read().catch(() => {});
    const began = performance.now();
    await expect(read()).rejects.toMatchObject({
      code: 'screen_not_readable',
      message: expect.stringMatching(/0\.2 s.*dev\.phalanx\.sample\.launcher/),
    });
    await driver().call('input.tap', { x: 5, y: 900 });
    expect(performance.now() - began).toBeLessThan(phone.faults.rootWaitMs / 2);
    expect(phone.android.inputs.list()).toContainEqual(expect.objectContaining({ kind: 'tap' }));
  });

  it('is waited for on a phone that takes longer for each tree', async () => {
    const { phone, read } = await start();
    phone.faults.nullRoot = true;
    await read().catch(() => {});
    const late = read().catch((error: unknown) => error);
    setTimeout(() => (phone.faults.nullRoot = false), 2 * patience.treeMs);
    await expect(late).resolves.toMatchObject({ code: 'screen_not_readable' });
    await expect.poll(() => read().catch(() => undefined)).toMatchObject({ source: 'uiautomator2' });
    phone.faults.nullRoot = true;
    setTimeout(() => (phone.faults.nullRoot = false), 2 * patience.treeMs);
    await expect(read()).resolves.toMatchObject({ source: 'uiautomator2' });
  });
});

describe('input into an app whose animations never end', () => {
  it('takes the way of the shell after the first slow answer, for that app alone', async () => {
    const { phone, driver, read } = await start();
    phone.android.startActivity('dev.phalanx.sample.surprise');
    await read();
    phone.faults.injectionMs = 400;
    const time = async (): Promise<number> => {
      const began = performance.now();
      await driver().call('input.tap', { x: 5, y: 900 });
      return performance.now() - began;
    };
    expect(await time()).toBeGreaterThan(390);
    expect(await time()).toBeLessThan(390);
    await driver().call('input.key', { keyCode: 29 });
    phone.android.startActivity('com.android.settings');
    await read();
    expect(await time()).toBeGreaterThan(390);
    expect(phone.android.inputs.list().filter(({ kind }) => kind === 'tap')).toHaveLength(3);
  });
});

describe('a web page without nodes', () => {
  it('gets them by a new connection, at most once a minute, which the tree tells', async () => {
    const { phone, driver, read } = await start();
    const first = driver();
    phone.faults.emptyWebPages = true;
    phone.android.startActivity('com.example.browser');
    const before = await read();
    expect(shows(before, 'A headline')).toBe(false);
    expect(before.remark).toBeUndefined();
    await expect.poll(async () => shows(await read(), 'A headline')).toBe(true);
    expect((await read()).remark).toMatch(/web page.*connect/i);
    const second = driver();
    expect(second).not.toBe(first);
    phone.faults.emptyWebPages = true;
    await expect.poll(async () => shows(await read(), 'A headline')).toBe(false);
    const until = performance.now() + 2 * 400;
    while (performance.now() < until) await read();
    expect(driver()).toBe(second);
  });
});
