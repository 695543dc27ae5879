import type { StepBegin, StepEnd } from '@phalanx/protocol';
import { describe, expect, it } from 'vitest';

import { WaitTimeoutError } from '../waits/wait-timeout-error.ts';
import { screenOf, uiNode } from '../testing/screens.ts';
import { aimOfCall, aimOfNode } from './aim-of-call.ts';
import { createSteps } from './steps.ts';

function listen(isReported = true) {
  const began: StepBegin[] = [];
  const ended: StepEnd[] = [];
  const steps = createSteps({
    began: (step) => {
      began.push(step);
      return isReported;
    },
    ended: (end) => void ended.push(end),
  });
  return { began, ended, ...steps };
}

const call = (name: string, work: () => Promise<unknown>) => ({ name, aim: () => ({}), work });

describe('steps', () => {
  it('are numbered as they begin and told as they end', async () => {
    const { run, began, ended } = listen();
    const slow = Promise.withResolvers<void>();
    const first = run(call('tap', () => slow.promise));
    await run(call('back', async () => undefined));
    slow.resolve();
    await first;
    expect(began.map(({ step, name }) => [step, name])).toEqual([
      [1, 'tap'],
      [2, 'back'],
    ]);
    expect(ended).toEqual([
      { step: 2, outcome: 'ok' },
      { step: 1, outcome: 'ok' },
    ]);
  });

  it('give results and errors on as they are, also those that are thrown at once', async () => {
    const { run, ended } = listen();
    const error = new TypeError('no number');
    expect(await run(call('tap', async () => 7))).toBe(7);
    await expect(run(call('tap', () => Promise.reject(error)))).rejects.toBe(error);
    expect(() =>
      run(
        call('tap', () => {
          throw error;
        }),
      ),
    ).toThrow(error);
    expect(ended.slice(1)).toEqual([
      { step: 2, outcome: 'type_error', message: 'no number' },
      { step: 3, outcome: 'type_error', message: 'no number' },
    ]);
  });

  it('tell what a wait found nearest', async () => {
    const { run, ended } = listen();
    const error = new WaitTimeoutError().describe({
      awaited: 'the text "Zurich"',
      waitedMs: 1,
      reads: 2,
      failedReads: 0,
      lastFailure: undefined,
      seen: [],
      nearest: ['Zürich', 'Zug'],
    });
    await run(call('waitForText', () => Promise.reject(error))).catch(() => undefined);
    expect(ended[0]).toMatchObject({ outcome: 'wait_timeout', nearest: ['Zürich', 'Zug'] });
  });

  it('have the steps that begin in a group as their parts', async () => {
    const { run, runGroup, began } = listen();
    await runGroup(call('runStages', () => run(call('tap', async () => undefined))));
    await run(call('back', async () => undefined));
    expect(began.map(({ step, parent }) => [step, parent])).toEqual([
      [1, undefined],
      [2, 1],
      [3, undefined],
    ]);
  });

  it('that are refused end untold, and survive what user code has broken', async () => {
    const { run, ended } = listen(false);
    await run(call('tap', async () => undefined));
    expect(ended).toEqual([]);
    const broken = listen();
    const aim = (): never => {
      throw new Error('patched');
    };
    expect(await broken.run({ name: 'tap', aim, work: async () => 1 })).toBe(1);
    expect(broken.began[0]).toEqual({ step: 1, name: 'tap' });
  });
});

describe('what a step acts on', () => {
  it.each([
    ['tap', [10.4, 20], { point: [10, 20] }],
    ['writeText', ['hunter2'], { target: '7 characters' }],
    ['setClipboard', ['1234'], { target: '4 characters' }],
    ['inputKey', ['ENTER'], { target: 'ENTER' }],
    ['inputKey', ['7'], {}],
    ['inputKey', [8], {}],
    ['openLink', ['https://example.com/a?token=1#x'], { target: 'https://example.com/a' }],
    ['shell', ['am start -e pin 1234'], { target: 'am …' }],
    ['waitForText', [/Total: .*/], { target: '/Total: .*/' }],
    ['apps.install', [new Uint8Array(3)], { target: '3 bytes' }],
    ['outOfSteps.storeScreen', [{}, 'home', 'Login'], { target: 'home · Login' }],
    ['nope', ['secret'], {}],
  ])('%s %j is told as %j', (name, args, aim) => {
    expect(aimOfCall(name, args)).toEqual(aim);
  });

  it('is a node by its class, ID and text, but a field without what it holds', () => {
    const bounds = { left: 0, top: 1, right: 2, bottom: 3 };
    const button = {
      className: 'android.widget.Button',
      viewId: 'a.b:id/go',
      text: 'Go',
      boundsInScreen: bounds,
    };
    expect(aimOfNode(screenOf(uiNode(button)))).toEqual({ target: 'Button #go "Go"', node: [0, 1, 2, 3] });
    const field = { ...button, className: 'android.widget.EditText', text: '1234' };
    expect(aimOfNode(screenOf(uiNode(field))).target).toBe('EditText #go');
  });
});
