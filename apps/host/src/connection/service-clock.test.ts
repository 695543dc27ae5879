import { describe, expect, it } from 'vitest';

import { createServiceClock } from './service-clock.ts';

const hourMs = 3_600_000;

/**
 * Returns an exchange sent at host time `sentAt` with the given travel times; the service's clock is `aheadMs` ahead.
 */
function exchange(sentAt: number, aheadMs: number, [thereMs, backMs]: [number, number]) {
  return { sentAt, receivedAt: sentAt + thereMs + backMs, serverTime: sentAt + thereMs + aheadMs };
}

describe("the server's clock as the host knows it", () => {
  it('shows the host time until it was measured', () => {
    const clock = createServiceClock(() => 5000);
    expect(clock.offsetMs).toBe(0);
    expect(clock.now()).toBe(5000);
  });

  it('is exact when both ways take equally long', () => {
    const clock = createServiceClock(() => 1_000_000);
    clock.addSample(exchange(1000, hourMs, [40, 40]));
    expect(clock.offsetMs).toBe(hourMs);
    expect(clock.now()).toBe(1_000_000 + hourMs);
    expect(clock.toService(7)).toBe(hourMs + 7);
  });

  it('prefers the fastest exchange over slow, lopsided ones', () => {
    const clock = createServiceClock();
    clock.addSample(exchange(10_000, 500, [900, 10]));
    clock.addSample(exchange(20_000, 500, [2, 2]));
    expect(clock.offsetMs).toBe(500);
    for (let beat = 0; beat < 7; beat += 1) clock.addSample(exchange(30_000 + beat, 500, [700, 10]));
    expect(clock.offsetMs).toBe(500);
  });

  it('follows a clock that was set at once', () => {
    const clock = createServiceClock();
    for (let beat = 0; beat < 8; beat += 1) clock.addSample(exchange(beat * 1000, 0, [5, 5]));
    clock.addSample(exchange(9000, -hourMs, [30, 30]));
    expect(clock.offsetMs).toBe(-hourMs);
  });

  it('forgets a fast exchange after some time, so that it follows drift', () => {
    const clock = createServiceClock();
    clock.addSample(exchange(0, 0, [1, 1]));
    for (let beat = 1; beat < 60; beat += 1) clock.addSample(exchange(beat * 1000, 12, [4, 4]));
    expect(Math.round(clock.offsetMs)).toBe(12);
  });

  it('ignores an exchange during which the host clock went back', () => {
    const clock = createServiceClock();
    clock.addSample({ sentAt: 2000, receivedAt: 1000, serverTime: 99_000 });
    expect(clock.offsetMs).toBe(0);
  });

  it('gives whole milliseconds and none below zero', () => {
    const clock = createServiceClock(() => 100);
    clock.addSample({ sentAt: 1000, receivedAt: 1001, serverTime: 500 });
    expect(clock.now()).toBe(0);
    expect(Number.isInteger(clock.toService(1_000_000))).toBe(true);
  });
});
