import type { ScreenTree } from '@phalanx/protocol';
import { sampleApps, type SimulatedPhone } from '@phalanx/simulated-phone';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPhoneTestBed, type PhoneTestBed, waitForState } from '../phones/testing/phone-test-bed.ts';
import type { PhoneWatch, WatchPhonesOptions } from '../phones/watch-phones.ts';
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

/** Limits below those of the helper for a tree, so that a test of a null root does not take ten seconds. */
const timings = { treeMs: 200, inputMs: 300, webPageMs: 400 };

interface Pair {
  readonly phone: SimulatedPhone;
  readonly watch: PhoneWatch;
  readonly driver: () => Driver;
  /** Reads the screen as a run does. */
  readonly read: () => Promise<ScreenTree>;
}

async function start(
  watching: Partial<WatchPhonesOptions> = {},
  { uiAutomator2 = true }: { uiAutomator2?: boolean } = {},
): Promise<Pair> {
  const phone = await bed.startPreparedPhone({
    serial: 'SIM1',
    apps: [...sampleApps, browser],
    uiAutomator2,
  });
  const watch = bed.watch({ addresses: [phone], timings, ...watching });
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
    await expect(driver().call('screen.windows', {})).rejects.toMatchObject({ code: 'screen_not_readable' });
    expect(performance.now() - began).toBeLessThan(phone.faults.rootWaitMs / 2);
    expect(phone.android.inputs.list()).toContainEqual(expect.objectContaining({ kind: 'tap' }));
  });

  it('is waited for on a phone that takes longer for each tree', async () => {
    const { phone, read } = await start();
    phone.faults.nullRoot = true;
    await read().catch(() => {});
    const late = read().catch((error: unknown) => error);
    setTimeout(() => (phone.faults.nullRoot = false), 2 * timings.treeMs);
    await expect(late).resolves.toMatchObject({ code: 'screen_not_readable' });
    await expect.poll(() => read().catch(() => undefined)).toMatchObject({ source: 'uiautomator2' });
    phone.faults.nullRoot = true;
    setTimeout(() => (phone.faults.nullRoot = false), 2 * timings.treeMs);
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

/** Tests a driver that tolerates every delay, like one that does not know these faults. */
describe('without the repairs, the simulated phone', () => {
  const enduring = { treeMs: 60_000, inputMs: 60_000, webPageMs: 60_000 };

  it('has no tree as long as the worn helper lives, and each reading takes all of its time', async () => {
    const { phone, driver, read } = await start({ timings: enduring });
    const first = driver();
    phone.faults.rootWaitMs = 500;
    phone.faults.wornHelper = true;
    for (const _ of [1, 2]) {
      const began = performance.now();
      await expect(read()).rejects.toMatchObject({ code: 'screen_not_readable' });
      expect(performance.now() - began).toBeGreaterThan(490);
    }
    expect(driver()).toBe(first);
  });

  it('takes the whole wait for each input, and shows a web page without its nodes for ever', async () => {
    const { phone, driver, read } = await start({ timings: enduring });
    phone.faults.injectionMs = 400;
    for (const _ of [1, 2]) {
      const began = performance.now();
      await driver().call('input.tap', { x: 5, y: 900 });
      expect(performance.now() - began).toBeGreaterThan(390);
    }
    phone.faults.emptyWebPages = true;
    phone.android.startActivity('com.example.browser');
    const until = performance.now() + 2 * timings.webPageMs;
    while (performance.now() < until) expect(shows(await read(), 'A headline')).toBe(false);
  });
});

/** The table of docs/operating.md, "Faults of accessibility". */
describe.each([
  { source: 'uiautomator2', helper: 'uiautomator2', uiAutomator2: true },
  { source: 'resident', helper: 'resident', uiAutomator2: true },
  { source: 'dump', helper: 'uiautomator2', uiAutomator2: false },
] as const)('with the repairs, by $source,', ({ source, helper, uiAutomator2 }) => {
  const startBy = async (): Promise<Pair> => {
    const pair = await start({ helper }, { uiAutomator2 });
    expect(pair.driver().source).toBe(source);
    return pair;
  };

  it('no reading shows what has gone', async () => {
    const { phone, read } = await startBy();
    phone.android.startActivity('com.android.settings');
    expect(shows(await read(), 'Bluetooth')).toBe(true);
    phone.faults.eventIntervalMs = Infinity;
    phone.android.startActivity('dev.phalanx.sample.surprise');
    expect(shows(await read(), 'Bluetooth')).toBe(false);
  });

  it('a worn connection costs the caller no error', async () => {
    const { phone, read } = await startBy();
    await read();
    phone.faults.wornHelper = true;
    await expect(read()).resolves.toMatchObject({ source });
  });

  it('a screen without a tree is told, and the next input is done', async () => {
    const { phone, driver, read } = await startBy();
    Object.assign(phone.faults, { nullRoot: true, uiautomator: 'null-root' });
    await expect(read()).rejects.toMatchObject({ code: 'screen_not_readable' });
    await driver().call('input.tap', { x: 5, y: 900 });
    expect(phone.android.inputs.list()).toContainEqual(expect.objectContaining({ kind: 'tap' }));
  });

  it('an endless animation holds up one input at most', async () => {
    const { phone, driver, read } = await startBy();
    await read();
    phone.faults.injectionMs = 1500;
    await driver().call('input.tap', { x: 5, y: 900 });
    const began = performance.now();
    await driver().call('input.tap', { x: 5, y: 900 });
    expect(performance.now() - began).toBeLessThan(1490);
  });

  it('a web page gets its nodes', async () => {
    const { phone, read } = await startBy();
    phone.faults.emptyWebPages = true;
    phone.android.startActivity('com.example.browser');
    await expect
      .poll(async () => shows(await read().catch(() => read()), 'A headline'), { timeout: 5000 })
      .toBe(true);
  });
});
