import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { screenOf, uiNode } from '../agent/testing/screens.ts';
import { runUnreported } from '../agent/trace/run-step.ts';
import { createRunStages } from './run-stages.ts';

interface Stored {
  stage: string;
  screenState: string;
  remainingSteps: number;
  quality: string;
}

/** Phone whose screen shows one text, which actions change. The clock advances only by sleeping. */
function createPhone(first: string) {
  const phone = { shows: first, time: 0, reads: 0, viewId: null as string | null, arrivals: 0 };
  const stored: Stored[] = [];
  const submitted: string[] = [];
  const timers: { at: number; callback: () => void }[] = [];
  const passTime = (ms: number): void => {
    phone.time += ms;
    for (const timer of timers.filter(({ at }) => at <= phone.time)) timer.callback();
  };
  const run = createRunStages({
    async readScreen() {
      phone.reads += 1;
      return screenOf(uiNode({ text: phone.shows, viewId: phone.viewId }));
    },
    outOfSteps: {
      // oxlint-disable-next-line max-params -- the published signature
      async storeScreen(_screen, stage, screenState, remainingSteps, quality) {
        stored.push({ stage, screenState, remainingSteps, quality });
      },
      async submit(type) {
        submitted.push(type);
        return { success: true, id: 'record-1' };
      },
    },
    reportArrival: async () => void (phone.arrivals += 1),
    sleep: async (ms) => passTime(ms),
    later: (callback, delayMs) => void timers.push({ at: phone.time + delayMs, callback }),
    now: () => phone.time,
    runStep: runUnreported,
  });
  return { phone, run, stored, submitted, passTime };
}

type State = 'Login' | 'Home' | 'Paid';
const states = {
  Login: 'Log in',
  Home: { text: 'Welcome' },
  Paid: (screen: AndroidNode) => screen.text === 'Thanks',
};

/** Plan that logs in and then pays. */
const plan = (phone: { shows: string }): StagePlan<State> => ({
  states,
  stages: [
    { name: 'home', reached: 'Home', on: { Login: () => void (phone.shows = 'Welcome') } },
    { name: 'payment', reached: ['Paid'], on: { Home: () => void (phone.shows = 'Thanks') } },
  ],
});

describe('an automation of stages', () => {
  it('reaches the end and stores each screen once, under the stage that is to be reached', async () => {
    const { phone, run, stored, submitted } = createPhone('Log in');
    const result = await run(plan(phone));
    expect(result).toEqual({
      success: true,
      reason: null,
      error: null,
      recordId: null,
      stage: 'payment',
      screenState: 'Paid',
      remainingSteps: 48,
      usedSteps: 2,
    });
    expect(stored).toEqual([
      { stage: 'home', screenState: 'Login', remainingSteps: 50, quality: 'low_quality' },
      { stage: 'payment', screenState: 'Home', remainingSteps: 49, quality: 'low_quality' },
      { stage: 'payment', screenState: 'Paid', remainingSteps: 48, quality: 'low_quality' },
    ]);
    expect(submitted).toEqual([]);
  });

  it('skips stages that are reached already, without a step', async () => {
    const { phone, run } = createPhone('Welcome');
    expect(await run(plan(phone))).toMatchObject({ success: true, usedSteps: 1 });
  });

  it('runs out of steps with a record and a story', async () => {
    const { phone, run, stored, submitted } = createPhone('Log in');
    const stuck = {
      ...plan(phone),
      maxSteps: 3,
      stages: [{ name: 'home', reached: 'Home' as const, on: {} }],
    };
    const result = await run(stuck);
    expect(result).toMatchObject({
      success: false,
      reason: 'outOfSteps',
      recordId: 'record-1',
      remainingSteps: 0,
      usedSteps: 3,
    });
    expect(stored.map(({ remainingSteps }) => remainingSteps)).toEqual([3, 2, 1, 0]);
    expect(submitted).toEqual(['outOfSteps']);
    expect(result.success ? '' : result.error).toBe(
      `The steps ran out on the way to "home":
  after 0.0 s, on the way to "home": Login, waited 3 times
  after 1.5 s, on the way to "home": Login, gave up`,
    );
  });

  it('gives up on a screen that it does not know, with steps left', async () => {
    const { phone, run, stored, submitted } = createPhone('What is this?');
    const result = await run({ ...plan(phone), maxUnknownLooks: 2 });
    expect(result).toMatchObject({ success: false, reason: 'unknownScreen', screenState: 'unknown' });
    expect(stored.map((one) => [one.screenState, one.remainingSteps])).toEqual([
      ['unknown', 50],
      ['unknown', 49],
      ['unknown', 48],
    ]);
    expect(submitted).toEqual(['outOfSteps']);
  });

  it('waits out unknown screens that go away', async () => {
    const { phone, run, stored } = createPhone('Loading');
    const looks = plan(phone);
    const result = await run({
      ...looks,
      maxUnknownLooks: 3,
      states: (screen) => {
        if (stored.length === 2) phone.shows = 'Log in';
        return screen.text === 'Loading' ? ('Unknown' as State) : screen.text === 'Log in' ? 'Login' : 'Paid';
      },
      stages: [{ name: 'payment', reached: 'Paid', on: { Login: () => void (phone.shows = 'x') } }],
    });
    expect(result).toMatchObject({ success: true });
    expect(stored.map(({ screenState }) => screenState)).toEqual([
      'unknown',
      'unknown',
      'unknown',
      'Login',
      'Paid',
    ]);
  });

  it('acts on unknown screens where a stage says how', async () => {
    const { phone, run } = createPhone('???');
    const on = { unknown: () => void (phone.shows = 'Thanks') };
    const result = await run({
      ...plan(phone),
      maxUnknownLooks: 0,
      stages: [{ name: 'p', reached: 'Paid', on }],
    });
    expect(result).toMatchObject({ success: true, usedSteps: 1 });
  });

  it('deals with unexpected dialogs before the states below them', async () => {
    const { phone, run, stored } = createPhone('Log in');
    phone.viewId = 'android:id/aerr_close';
    const close = () => void (phone.viewId = null);
    const dialogs = [{ name: 'AppCrashed', when: { id: 'android:id/aerr_close' }, do: close }];
    expect(await run({ ...plan(phone), dialogs })).toMatchObject({ success: true, usedSteps: 3 });
    expect(stored.map(({ screenState }) => screenState)).toEqual(['AppCrashed', 'Login', 'Home', 'Paid']);
  });

  it('ends a stage that takes too long, with a timeout record; a new stage has its own time', async () => {
    const { phone, run, submitted, stored } = createPhone('Log in');
    const slow = plan(phone).stages.map((stage) => ({ ...stage, timeLimitMs: 1200 }));
    const result = await run({
      ...plan(phone),
      stages: [...slow, { name: 'more', reached: 'Login', on: {} }],
      timeLimitMs: 1000,
    });
    expect(result).toMatchObject({ success: false, reason: 'timeout', stage: 'more' });
    expect(result.success ? '' : result.error).toContain('"more" was not reached within 1 s');
    expect(submitted).toEqual(['timeout']);
    expect(stored.at(-1)?.remainingSteps).toBe(result.remainingSteps);
  });

  it('leaves an action behind that never ends', async () => {
    const { phone, run, passTime } = createPhone('Log in');
    const on = {
      Login: () => {
        queueMicrotask(() => passTime(5000));
        return new Promise(() => {});
      },
    };
    const result = await run({
      ...plan(phone),
      timeLimitMs: 5000,
      stages: [{ name: 'home', reached: 'Home', on }],
    });
    expect(result).toMatchObject({ success: false, reason: 'timeout', usedSteps: 1 });
  });

  it('lets errors of actions through', async () => {
    const { phone, run, submitted } = createPhone('Log in');
    const on = { Login: () => Promise.reject(new Error('no such field')) };
    await expect(run({ ...plan(phone), stages: [{ name: 'home', reached: 'Home', on }] })).rejects.toThrow(
      'no such field',
    );
    expect(submitted).toEqual([]);
  });

  it.each<[Partial<StagePlan<State>>, string]>([
    [{ stages: [] }, 'at least one stage'],
    [{ maxSteps: -1 }, 'maxSteps must be a whole number'],
    [{ maxSteps: 1.5 }, 'maxSteps must be a whole number'],
    [{ states: { Login: {} } }, 'A screen sign needs'],
  ])('refuses a plan that can not be meant: %j', async (part, message) => {
    const { phone, run } = createPhone('Log in');
    await expect(run({ ...plan(phone), ...part })).rejects.toThrow(message);
  });

  it('counts truly, whatever the phone shows', async () => {
    const shown = fc.constantFrom('Log in', 'Welcome', 'Thanks', 'Dialog', 'Loading');
    await fc.assert(
      fc.asyncProperty(
        fc.array(shown, { minLength: 1, maxLength: 30 }),
        fc.nat(12),
        async (shows, maxSteps) => {
          const { phone, run, stored, submitted } = createPhone(shows[0] ?? '');
          let acts = 0;
          const act = () => void (acts += 1);
          const next = (): void => void (phone.shows = shows[Math.min(phone.reads, shows.length - 1)] ?? '');
          const result = await run({
            states: { ...states, Login: (screen) => (next(), screen.text === 'Log in') },
            stages: [
              { name: 'home', reached: 'Home', on: { Login: act } },
              { name: 'payment', reached: 'Paid', on: { Home: act } },
            ],
            dialogs: [{ name: 'Dialog', when: 'Dialog', do: act }],
            maxSteps,
            maxUnknownLooks: 4,
          });
          const looks = stored.length;
          expect(stored.map(({ remainingSteps }) => remainingSteps)).toEqual(
            Array.from({ length: looks }, (_, index) => maxSteps - index),
          );
          expect(result.usedSteps).toBe(looks - 1);
          expect(result.usedSteps + result.remainingSteps).toBe(maxSteps);
          expect(acts).toBeLessThanOrEqual(result.usedSteps);
          expect(submitted).toEqual(result.success ? [] : ['outOfSteps']);
          expect(stored.at(-1)).toMatchObject({ stage: result.stage, screenState: result.screenState });
        },
      ),
    );
  });
});
