import { randomUUID } from 'node:crypto';
import { maxTextFrameBytes, type DeviceReport, type RunReport } from '@phalanx/protocol';
import { expect, it } from 'vitest';

import { type Hello, pagesOfHello } from './pages.ts';

const device = (index: number): DeviceReport => ({
  serial: `serial ${index}`,
  state: 'ready',
  reason: 'Ready',
  since: 1,
  brand: 'b',
  model: 'm',
  android_version: '16',
  sdk_version: 36,
  screen_width: 1,
  screen_height: 1,
});
const run = (result: string): RunReport => ({
  run_id: randomUUID(),
  status: 'completed',
  error: null,
  result,
  started_at: 1,
  ended_at: 2,
});
const hello = (devices: number, runs: number): Hello => ({
  type: 'hello',
  protocol_version: 3,
  host_id: randomUUID(),
  host_name: 'host',
  devices: Array.from({ length: devices }, (_, index) => device(index)),
  runs: Array.from({ length: runs }, () => run('\u0001'.repeat(10_000))),
});

it('says everything of thousands of phones and runs, once, in frames that the server takes', () => {
  const whole = hello(10_000, 200);
  const pages = pagesOfHello(whole);
  const parts = pages.flatMap((page) => (page.type === 'hello' || page.type === 'hello_more' ? [page] : []));
  expect(parts.flatMap(({ devices }) => devices)).toEqual(whole.devices);
  expect(parts.flatMap(({ runs }) => runs)).toEqual(whole.runs);
  expect(parts.map(({ more }) => more === true)).toEqual(parts.map((_, at) => at < parts.length - 1));
  for (const page of pages) expect(JSON.stringify(page).length).toBeLessThan(maxTextFrameBytes);
});

it('is one message for most hosts', () => {
  const small = hello(100, 0);
  expect(pagesOfHello(small)).toEqual([small]);
});
