import { describe, expect, it } from 'vitest';

import { screenOf, uiNode } from '../testing/screens.ts';
import { rememberTree } from '../nodes/tree-ids.ts';
import { WaitTimeoutError } from './wait-timeout-error.ts';
import type { WaitParts } from './wait-until.ts';
import { createWaits } from './waits.ts';

/** Reports every node as reachable at its center. */
const anywhere: WaitParts['reach'] = async ({ boundsInScreen: { left, top, right, bottom } }) => ({
  state: 'free',
  point: { x: Math.floor((left + right) / 2), y: Math.floor((top + bottom) / 2) },
  area: { left, top, right, bottom },
});

/** Phone whose screen is a function of time. The clock advances only by sleeping and by slow readings. */
function phone(screenAt: (ms: number) => AndroidNode, readMs = 0) {
  let time = 0;
  let reads = 0;
  const readTimes: number[] = [];
  const waits = createWaits({
    async read() {
      reads += 1;
      readTimes.push(time);
      time += readMs;
      return screenAt(time);
    },
    swipe: async () => {},
    reach: anywhere,
    untilChange: async () => 'untold',
    async sleep(ms) {
      time += ms;
    },
    now: () => time,
  });
  return { waits, readTimes, reads: () => reads, time: () => time };
}

const text = (...texts: string[]): AndroidNode =>
  screenOf(uiNode({ children: texts.map((one, index) => uiNode({ text: one, index })) }));
const caught = async (work: Promise<unknown>): Promise<WaitTimeoutError> => {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof WaitTimeoutError)) throw new Error(`not a WaitTimeoutError: ${String(error)}`);
  return error;
};

describe('a wait', () => {
  it('gives the node as soon as it is there', async () => {
    const { waits, readTimes } = phone((ms) => (ms >= 1000 ? text('Login') : text('Loading')));
    expect((await waits.waitForText('Login')).text).toBe('Login');
    expect(readTimes).toEqual([0, 250, 500, 750, 1000]);
  });

  it('of 0 ms reads the screen exactly once', async () => {
    const { waits, reads } = phone(() => text('A'));
    await caught(waits.waitForText('B', { timeoutMs: 0 }));
    expect(reads()).toBe(1);
  });

  it('looks once more when the time is up', async () => {
    const { waits, readTimes } = phone((ms) => (ms >= 1000 ? text('B') : text('A')));
    await waits.waitForText('B', { timeoutMs: 1000, intervalMs: 600 });
    expect(readTimes).toEqual([0, 600, 1000]);
  });

  it('is charged at most a second for a slow reading', async () => {
    const { waits, reads, time } = phone(() => text('A'), 10_000);
    await caught(waits.waitForText('B', { timeoutMs: 5000 }));
    expect(reads()).toBe(5);
    expect(time()).toBeGreaterThan(50_000);
  });

  it('tells what the host said of the phone meanwhile', async () => {
    const { waits } = phone(() => rememberTree(text('A'), { remark: 'The UI helper was connected anew.' }));
    const error = await caught(waits.waitForText('B', { timeoutMs: 500 }));
    expect(error.message).toContain('About the phone: The UI helper was connected anew.');
  });

  it('goes on when a reading fails, and tells of it', async () => {
    let reads = 0;
    const waits = createWaits({
      read: async () => {
        reads += 1;
        if (reads < 3) throw new Error('no window');
        return text('Login');
      },
      swipe: async () => {},
      reach: anywhere,
      untilChange: async () => 'untold',
      sleep: async () => {},
      now: () => 0,
    });
    expect((await waits.waitForText('Login')).text).toBe('Login');
    const failing = createWaits({
      read: () => Promise.reject(new Error('no window')),
      swipe: async () => {},
      reach: anywhere,
      untilChange: async () => 'untold',
      sleep: async () => {},
      now: () => 0,
    });
    const error = await caught(failing.waitForText('x', { timeoutMs: 0 }));
    expect(error.message).toContain('read 1 times, 1 times in vain (no window)');
    expect(error.cause).toMatchObject({ message: 'no window' });
  });

  it('passes on what a predicate throws', async () => {
    const { waits } = phone(() => text('A'));
    await expect(waits.waitFor(() => Promise.reject(new TypeError('mine')))).rejects.toThrow('mine');
  });

  it('for a predicate gives what the predicate gave', async () => {
    const { waits } = phone((ms) => text(`at ${ms}`));
    expect(await waits.waitFor((screen) => screen.findTextOne('at 500')?.text)).toBe('at 500');
  });

  it('for a text to go ends when it has gone', async () => {
    const { waits, time } = phone((ms) => (ms < 700 ? text('Loading') : text('Done')));
    await waits.waitForTextGone('Loading');
    expect(time()).toBe(750);
  });

  it('for an app, an id and an idle screen works on what the screen shows', async () => {
    const { waits, time } = phone((ms) =>
      screenOf(
        uiNode({
          packageName: ms < 500 ? 'com.a' : 'com.b',
          viewId: 'com.b:id/x',
          text: ms < 1000 ? String(ms) : 'still',
        }),
      ),
    );
    expect((await waits.waitForApp('com.b')).packageName).toBe('com.b');
    expect((await waits.waitForId('x')).viewId).toBe('com.b:id/x');
    await waits.waitForIdle({ quietMs: 600 });
    expect(time()).toBe(1750);
  });
});

describe('a wait on a phone that tells of changes', () => {
  /** Reports screen changes at those times; `orders` records the requests to wait for one. */
  function telling(changes: readonly number[]) {
    let time = 0;
    const readTimes: number[] = [];
    const orders: { restMs: number; timeoutMs: number }[] = [];
    const shown = (): number => changes.filter((at) => at <= time).length;
    const waits = createWaits({
      read: async () => (readTimes.push(time), text(`change ${shown()}`)),
      swipe: async () => {},
      reach: anywhere,
      async untilChange(screen, { restMs, timeoutMs }) {
        orders.push({ restMs, timeoutMs });
        const next = changes.find((at) => at > time) ?? Infinity;
        const isInTime = Math.max(next, time + restMs) <= time + timeoutMs;
        time = isInTime ? Math.max(next, time + restMs) : time + timeoutMs;
        return screen.findTextOne(`change ${shown()}`) === null ? 'changed' : 'same';
      },
      async sleep(ms) {
        time += ms;
      },
      now: () => time,
    });
    return { waits, readTimes, orders, time: () => time };
  }

  it('looks when the screen has changed, and not in between', async () => {
    const { waits, readTimes, orders } = telling([70, 9000, 9100]);
    await waits.waitForText('change 3');
    expect(readTimes).toEqual([0, 70, 9000, 9250]);
    expect(orders.map(({ restMs }) => restMs)).toEqual([0, 250, 250]);
  });

  it('ends when its time is over, with one more look', async () => {
    const { waits, readTimes, time } = telling([]);
    await caught(waits.waitForText('never', { timeoutMs: 90_000 }));
    expect(readTimes).toEqual([0, 60_000, 90_000]);
    expect(time()).toBe(90_000);
  });

  it('looks as often as the caller says, and as often as ever where more than the screen may matter', async () => {
    const often = telling([]);
    await caught(often.waits.waitForText('never', { timeoutMs: 1000, intervalMs: 500 }));
    expect(often.readTimes).toEqual([0, 500, 1000]);
    expect(often.orders).toEqual([]);
    const predicate = telling([]);
    await caught(predicate.waits.waitFor(() => false, { timeoutMs: 500 }));
    expect(predicate.readTimes).toEqual([0, 250, 500]);
    const idle = telling([]);
    await idle.waits.waitForIdle({ quietMs: 500 });
    expect(idle.readTimes).toEqual([0, 250, 500]);
  });

  it('gives up asking a phone that does not tell, for this wait', async () => {
    let asked = 0;
    let time = 0;
    const waits = createWaits({
      read: async () => text(time >= 500 ? 'B' : 'A'),
      swipe: async () => {},
      reach: anywhere,
      untilChange: async () => ((asked += 1), 'untold'),
      async sleep(ms) {
        time += ms;
      },
      now: () => time,
    });
    await waits.waitForText('B');
    expect({ asked, time }).toEqual({ asked: 1, time: 500 });
  });
});

describe('a wait with a signal', () => {
  it('ends with its reason at once, although a reading hangs', async () => {
    const waits = createWaits({
      read: () => new Promise(() => {}),
      swipe: async () => {},
      reach: anywhere,
      untilChange: async () => 'untold',
      sleep: async () => {},
      now: () => 0,
    });
    const controller = new AbortController();
    const wait = waits.waitForText('A', { signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(wait).rejects.toThrow('enough');
    await expect(waits.waitForText('A', { signal: controller.signal })).rejects.toThrow('enough');
  });

  it('reads no more after it', async () => {
    const controller = new AbortController();
    const { waits, reads } = phone(() => {
      if (reads() === 3) controller.abort(new Error('enough'));
      return text('A');
    });
    await expect(waits.waitForText('B', { signal: controller.signal })).rejects.toThrow('enough');
    expect(reads()).toBe(3);
  });

  it('that is a deadline ends with the story', async () => {
    const late = new DOMException('', 'TimeoutError');
    const controller = new AbortController();
    const { waits } = phone(() => {
      controller.abort(late);
      return text('A');
    });
    const error = await caught(waits.waitForText('B', { signal: controller.signal }));
    expect(error.message).toContain('Waited 0.0 s for the text "B", but it did not come.');
  });
});

/** List of a hundred rows of 100 pixels in a window of ten rows, which keeps moving a little after a swipe. */
function longList({ rows = 100, reach = anywhere }: { rows?: number; reach?: WaitParts['reach'] } = {}) {
  const swipes: number[][] = [];
  let offset = 0;
  let momentum = 0;
  const waits = createWaits({
    async read() {
      offset = Math.max(0, Math.min(rows * 100 - 1000, offset + momentum));
      momentum = Math.trunc(momentum / 2);
      const children = Array.from({ length: rows }, (_, row) =>
        uiNode({ text: `Row ${row}`, index: row, boundsInScreen: rowBounds(row * 100 - offset) }),
      ).filter(({ boundsInScreen: { top, bottom } }) => bottom > 0 && top < 1000);
      const list = uiNode({ scrollable: true, boundsInScreen: rowBounds(0, 1000), children });
      return screenOf(uiNode({ boundsInScreen: rowBounds(0, 1200), children: [list] }));
    },
    reach,
    untilChange: async () => 'untold',
    async swipe(...way) {
      swipes.push(way);
      offset += (way[1] ?? 0) - (way[3] ?? 0);
      momentum = 40 * Math.sign((way[1] ?? 0) - (way[3] ?? 0));
    },
    sleep: async () => {},
    now: () => 0,
  });
  return { waits, swipes };
}
const rowBounds = (top: number, height = 100) => ({ left: 0, top, right: 600, bottom: top + height });

describe('collecting the rows of a list', () => {
  it('gives each row once, in its order, however often it was in view', async () => {
    const { waits, swipes } = longList({ rows: 57 });
    const rows = await waits.collect((row) => row.text);
    expect(rows).toEqual(Array.from({ length: 57 }, (_, row) => `Row ${row}`));
    expect(swipes.length).toBeGreaterThan(8);
  });

  it('leaves out what it is told to', async () => {
    const { waits } = longList({ rows: 30 });
    expect(await waits.collect((row) => (row.text === 'Row 12' ? row.text : null))).toEqual(['Row 12']);
  });
});

describe('scrolling to a node', () => {
  it('does not move what is in view', async () => {
    const { waits, swipes } = longList();
    expect((await waits.scrollTo('Row 7')).text).toBe('Row 7');
    expect(swipes).toEqual([]);
  });

  it('goes down and up by less than a screen at a time, and gives the node at rest', async () => {
    const { waits, swipes } = longList();
    const node = await waits.scrollTo((f) => f.hasText('Row 42'));
    expect((await waits.waitForText('Row 42')).boundsInScreen).toEqual(node.boundsInScreen);
    expect(swipes[0]?.slice(0, 5)).toEqual([300, 700, 300, 300, 600]);
    await waits.scrollTo(/^Row 3$/, { direction: 'up', within: (f) => f.isScrollable() });
    expect(swipes.at(-1)?.slice(0, 5)).toEqual([300, 300, 300, 700, 600]);
  });

  it('goes on while something lies over the node, within what is free of the list', async () => {
    const { waits, swipes } = longList({
      reach: async (node, signal) => {
        const { top, bottom } = node.boundsInScreen;
        const found = await anywhere(node, signal);
        // Keyboard of 400 pixels height.
        if (found.state !== 'free' || bottom <= 600) return found;
        if (top >= 600) return { state: 'covered', reason: 'The keyboard lies over it' };
        return { ...found, area: { ...found.area, bottom: 600 } };
      },
    });
    const row = await waits.scrollTo('Row 8');
    expect(row.boundsInScreen.bottom).toBeLessThanOrEqual(600);
    expect(swipes[0]?.slice(0, 4)).toEqual([300, 420, 300, 180]);
  });

  it('says at the end of the list what lies over the node', async () => {
    const { waits } = longList({
      rows: 12,
      reach: async (node, signal) =>
        node.text === undefined
          ? anywhere(node, signal)
          : { state: 'covered', reason: 'The FrameLayout lies over it' },
    });
    const { message } = await caught(waits.scrollTo('Row 11'));
    expect(message).toContain('It is there, but not to be touched: The FrameLayout lies over it');
  });

  it('tells at the end of the list that it is the end', async () => {
    const { waits, swipes } = longList({ rows: 20 });
    const error = await caught(waits.scrollTo('Row 99'));
    expect(error.message).toContain('for the text "Row 99" to be in view, scrolling down to the end, but');
    expect(error.nearest).toContain('Row 19');
    expect(swipes.length).toBeLessThan(6);
  });

  it('waits for a list that is not there yet, and refuses a direction that is none', async () => {
    const { waits, swipes } = longList();
    const within: NodeConditions = (f) => f.hasId('later');
    await caught(waits.scrollTo('Row 50', { within, timeoutMs: 0 }));
    expect(swipes).toEqual([]);
    expect(() => waits.scrollTo('Row 50', { direction: 'north' as never })).toThrow('but not north');
  });
});

describe('the story of a wait in vain', () => {
  it('says what, how long, how often, what was seen when, and what comes nearest', async () => {
    const { waits } = phone((ms) =>
      ms < 1000 ? text('Welcome', 'Start') : text('Sign up', 'Log in', 'Cancel', 'Terms and conditions'),
    );
    const error = await caught(waits.waitForText('Login', { timeoutMs: 2000, intervalMs: 500 }));
    expect(error.name).toBe('WaitTimeoutError');
    expect(error.message.split('\n')).toEqual([
      'Waited 2.0 s for the text "Login", but it did not come. The screen was read 5 times.',
      'Seen:',
      '  after 0.0 s: com.example "Welcome"',
      '  after 1.0 s: com.example "Sign up"',
      'Nearest on the last screen: "Log in", "Terms and conditions", "Sign up", "Cancel"',
    ]);
    expect(error).toMatchObject({ awaited: 'the text "Login"', waitedMs: 2000, reads: 5 });
  });

  it('for an id names ids', async () => {
    const { waits } = phone(() =>
      screenOf(uiNode({ viewId: 'com.example:id/login_button', text: 'Log in' })),
    );
    const error = await caught(waits.waitForId('com.example:id/login', { timeoutMs: 0 }));
    expect(error.nearest).toEqual(['com.example:id/login_button']);
  });

  it('stays short when the screen changes all the time', async () => {
    const { waits } = phone((ms) => text(`${ms} ${'long '.repeat(50)}`));
    const error = await caught(waits.waitForText('x'));
    expect(error.seen).toHaveLength(12);
    expect(error.seen[0]?.afterMs).toBe(0);
    expect(error.seen.at(-1)?.afterMs).toBe(30_000);
    expect(error.message.length).toBeLessThan(2500);
  });
});
