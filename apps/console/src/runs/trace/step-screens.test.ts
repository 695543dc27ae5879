import type { RunStep } from '@phalanx/protocol';
import { expect, test } from 'vitest';

import { screensOf, stepOfScreen } from './step-screens.ts';

const step = (number: number, timestamp: number, more: Partial<RunStep> = {}): RunStep => ({
  id: `step-${number}`,
  run_id: 'run',
  step: number,
  name: 'actions.tap',
  outcome: 'ok',
  path: 'main.ts',
  line_number: number,
  timestamp,
  duration_ms: 50,
  ...more,
});
const screen = (_id: string, timestamp: number) => ({ _id, timestamp });

test('a step shows the screen that it saw last', () => {
  const screens = [screen('home', 100), screen('form', 200)];
  const [tap, wait] = [step(1, 110, { before: 'home' }), step(2, 180, { before: 'home', after: 'form' })];
  const steps = [tap, wait];
  expect(screensOf(steps, tap, screens)).toEqual({ before: screens[0], after: screens[1] });
  expect(screensOf(steps, wait, screens)).toEqual({ before: screens[0], after: screens[1] });
});

test('of a screen that was stored again and again while nothing changed, a step shows the one of its own time', () => {
  const screens = [screen('unknown', 100), screen('again', 215), screen('once more', 315)];
  const steps = [1, 2, 3].map((number) => step(number, number * 100, { after: 'unknown', duration_ms: 20 }));
  expect(steps.map((one) => screensOf(steps, one, screens).after?._id)).toEqual([
    'unknown',
    'again',
    'once more',
  ]);
  expect(screens.map((one) => stepOfScreen(steps, one)?.step)).toEqual([3, 2, 3]);
});
