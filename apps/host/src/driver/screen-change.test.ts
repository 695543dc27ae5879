import type { AgentCallResult, ScreenTree } from '@phalanx/protocol';
import { sampleApps, type SimulatedPhone } from '@phalanx/simulated-phone';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPhoneTestBed, type PhoneTestBed, waitForState } from '../phones/testing/phone-test-bed.ts';
import type { HostTimings } from '../time/host-timings.ts';
import { callPhone } from '../phones/call-phone.ts';
import type { Driver } from './driver.ts';
import { browser } from './testing/browser-app.ts';

let bed: PhoneTestBed;
beforeEach(async () => {
  bed = await createPhoneTestBed();
});
afterEach(async () => {
  await bed.close();
});

type Outcome = AgentCallResult<'screen.change'>;

interface Pair {
  readonly phone: SimulatedPhone;
  readonly driver: () => Driver;
  readonly read: () => Promise<ScreenTree>;
  readonly wait: (since: ScreenTree, timeoutMs?: number, signal?: AbortSignal) => Promise<Outcome>;
  /** Number of readings of the phone. */
  readonly readings: () => number;
}

/** Timings with which the phone polls its own screen after half a second. */
const hurried = { firstLookMs: 50, maxLookMs: 200 };

async function start(
  helper: 'resident' | 'uiautomator2',
  { uiAutomator2 = true, timings = {} }: { uiAutomator2?: boolean; timings?: Partial<HostTimings> } = {},
): Promise<Pair> {
  const apps = [...sampleApps, browser];
  const phone = await bed.startPreparedPhone({ serial: 'SIM1', apps, uiAutomator2 });
  const watch = bed.watch({ addresses: [phone], helper, timings });
  const ready = await waitForState(watch, 'SIM1', 'ready');
  const { signal: never } = new AbortController();
  const at = { serial: 'SIM1', deviceId: 'd' };
  let readings = 0;
  phone.faults.beforeReading = () => void (readings += 1);
  return {
    phone,
    driver: () => ready.driver(),
    readings: () => readings,
    read: () => callPhone(watch, at, { name: 'screen.content', params: {}, signal: never }),
    wait: ({ capturedAt }, timeoutMs = 20_000, signal = never) =>
      callPhone(watch, at, {
        name: 'screen.change',
        params: { capturedAt, restMs: 0, timeoutMs },
        signal,
      }),
  };
}

const openSettings = ({ phone }: Pair): boolean => phone.android.startActivity('com.android.settings');

describe('waiting for another screen by the resident helper', () => {
  it('ends when the phone tells of it, sooner than by looking', async () => {
    const pair = await start('resident');
    const time = async (): Promise<number> => {
      const began = performance.now();
      for (const opens of [true, false, true, false, true, false]) {
        const since = await pair.read();
        const waiting = pair.wait(since);
        if (opens) openSettings(pair);
        else pair.phone.android.goHome();
        await expect(waiting).resolves.toBe('changed');
      }
      return performance.now() - began;
    };
    const toldMs = await time();
    pair.phone.faults.eventIntervalMs = Infinity;
    expect(await time()).toBeGreaterThan(toldMs);
  });

  it('leaves it to the phone to look at a still screen', async () => {
    const pair = await start('resident', { timings: hurried });
    const since = await pair.read();
    const before = pair.readings();
    await expect(pair.wait(since, 1500)).resolves.toBe('same');
    expect(pair.readings() - before).toBeLessThan(6);
  });

  /** Starts a wait, and continues when the phone polls by itself. */
  async function waitLong(pair: Pair, signal?: AbortSignal): Promise<{ outcome: Promise<Outcome> }> {
    const since = await pair.read();
    const before = pair.readings();
    const outcome = pair.wait(since, 20_000, signal);
    await expect.poll(() => pair.readings() - before).toBe(4);
    pair.phone.faults.eventIntervalMs = Infinity;
    return { outcome };
  }

  it('is told by the phone of what an app does not tell', async () => {
    const pair = await start('resident', { timings: hurried });
    const { outcome } = await waitLong(pair);
    const before = pair.readings();
    openSettings(pair);
    await expect(outcome).resolves.toBe('changed');
    expect(pair.readings()).toBe(before + 1);
  });

  it('notices what somebody else reads while the phone looks by itself', async () => {
    const pair = await start('resident', { timings: hurried });
    const { outcome } = await waitLong(pair);
    openSettings(pair);
    await pair.read();
    await expect(outcome).resolves.toBe('changed');
  });

  it('rejects when the phone finds no screen any more', async () => {
    const pair = await start('resident', { timings: hurried });
    const { outcome } = await waitLong(pair);
    pair.phone.faults.nullRoot = true;
    await expect(outcome).rejects.toMatchObject({ code: 'screen_not_readable' });
  });

  it('has the phone look no more when it ends', async () => {
    const pair = await start('resident', { timings: hurried });
    const caller = new AbortController();
    const { outcome } = await waitLong(pair, caller.signal);
    caller.abort(new Error('enough'));
    await expect(outcome).rejects.toMatchObject({ code: 'call_cancelled' });
    // The helper releases UiAutomation ten seconds after its last use.
    const dump = { command: 'uiautomator dump /sdcard/a.xml', timeoutMs: 5000 };
    await expect
      .poll(async () => (await pair.driver().call('phone.shell', dump)).stderr, { timeout: 13_000 })
      .not.toContain('Killed');
  });

  it('still reads an empty web page, which has to be renewed', async () => {
    const pair = await start('resident');
    await pair.read();
    pair.phone.faults.emptyWebPages = true;
    pair.phone.android.startActivity('com.example.browser');
    await expect(pair.wait(await pair.read(), 8000)).resolves.toBe('changed');
  });

  it('notices what an app does not tell', async () => {
    const pair = await start('resident');
    const since = await pair.read();
    pair.phone.faults.eventIntervalMs = Infinity;
    const waiting = pair.wait(since);
    openSettings(pair);
    await expect(waiting).resolves.toBe('changed');
  });

  it('notices what changed before it began, also when somebody else has read that', async () => {
    const pair = await start('resident');
    const since = await pair.read();
    openSettings(pair);
    const after = await pair.read();
    expect(after.capturedAt).toBeGreaterThan(since.capturedAt);
    await expect(pair.wait(since)).resolves.toBe('changed');
    await expect(pair.wait(after, 300)).resolves.toBe('same');
  });

  it('reads no more than four times a second where an app tells of changes that nobody sees', async () => {
    const pair = await start('resident');
    const since = await pair.read();
    const before = pair.readings();
    const spinner = setInterval(() => pair.phone.android.redraw(), 10);
    await expect(pair.wait(since, 2000)).resolves.toBe('same');
    clearInterval(spinner);
    expect(pair.readings() - before).toBeGreaterThan(1);
    expect(pair.readings() - before).toBeLessThan(11);
  });

  it('holds up no other call, and ends with its caller', async () => {
    const pair = await start('resident');
    const since = await pair.read();
    const caller = new AbortController();
    const waiting = pair.wait(since, 20_000, caller.signal);
    await pair.driver().call('input.tap', { x: 5, y: 900 });
    expect(pair.phone.android.inputs.list()).toContainEqual(expect.objectContaining({ kind: 'tap' }));
    caller.abort(new Error('enough'));
    await expect(waiting).rejects.toMatchObject({ code: 'call_cancelled' });
  });

  it('outlives its helper: the caller looks anew', async () => {
    const pair = await start('resident');
    const waiting = pair.wait(await pair.read());
    pair.phone.faults.killUiServer();
    await expect(waiting).resolves.toBe('changed');
    await expect(pair.wait(await pair.read(), 300)).resolves.toBe('same');
  });
});

it.each([
  { source: 'uiautomator2', hasServer: true },
  { source: 'dump', hasServer: false },
])('by $source nobody tells of changes, which is said at once', async ({ source, hasServer }) => {
  const pair = await start('uiautomator2', { uiAutomator2: hasServer });
  expect(pair.driver().source).toBe(source);
  await expect(pair.wait(await pair.read())).resolves.toBe('untold');
});
