import { randomUUID } from 'node:crypto';
import type { HostQuestionOf, HostTouch, PhoneInput, ScreenTree } from '@phalanx/protocol';
import { beforeEach, describe, expect, it } from 'vitest';

import { findNode } from '../driver/find-node.ts';
import type { Arrival } from '../testing/read-frame.ts';
import { serial, useTestHost } from '../testing/test-host.ts';

const host = useTestHost({ timings: { passwordMs: 20_000 } });

const touchOf = (by: string, lease = 1): HostTouch => ({ device_id: 'device-1', lease, by });

/** Returns an empty string when the request was done, else the reason why it was not. */
async function answerTo(request_id: string): Promise<string> {
  const isAnswer = (arrival: Arrival): boolean => 'requestId' in arrival && arrival.requestId === request_id;
  await host.service.until(() => host.service.arrivals.some(isAnswer));
  const found = host.service.arrivals.find(isAnswer);
  return found?.kind === 'request_failed' ? found.message : '';
}

function input(what: PhoneInput, touch: HostTouch): Promise<string> {
  const request_id = randomUUID();
  host.service.send({ type: 'input', request_id, serial, input: what, touch });
  return answerTo(request_id);
}

function tellLease(lease: number, device_id = 'device-1'): Promise<string> {
  const question: HostQuestionOf<'lease'> = {
    type: 'lease',
    request_id: randomUUID(),
    serial,
    device_id,
    lease,
  };
  host.service.send(question);
  return answerTo(question.request_id);
}

describe('touches that wait', () => {
  const swipe: PhoneInput = {
    type: 'swipe',
    from_x: 500,
    from_y: 1500,
    to_x: 500,
    to_y: 700,
    duration_ms: 300,
  };
  const swipesOf = (count: number, touch: HostTouch): Promise<string>[] =>
    Array.from({ length: count }, () => input(swipe, touch));

  it.each<[name: string, change: () => Promise<unknown>]>([
    ['another lease begins', () => tellLease(2)],
    [
      'somebody touches the phone in a later lease',
      () => input({ type: 'key', key_code: 4 }, touchOf('next', 2)),
    ],
    ['a run begins', async () => host.launch('await agent.utils.sleep(1);')],
  ])('are given up when %s', async (_, change) => {
    const waiting = swipesOf(8, touchOf('first'));
    const changed = change();
    const answers = await Promise.all(waiting);
    await changed;
    const givenUp = answers.filter((answer) => answer.includes('meanwhile'));
    // The phone may already execute one of them.
    expect(givenUp.length, answers.join('\n')).toBeGreaterThanOrEqual(7);
    const swiped = host.phone.android.inputs.list().filter(({ kind }) => kind === 'swipe');
    expect(swiped.length).toBeLessThanOrEqual(1);
  });

  it('of an earlier lease are refused, and those of the later one are done', async () => {
    await tellLease(5);
    expect(await input(swipe, touchOf('first', 4))).toContain('another lease of it began or ended');
    expect(await input(swipe, touchOf('next', 5))).toBe('');
  });

  it('are counted anew for a phone that the service knows by another ID, and on another connection', async () => {
    await tellLease(5);
    expect(await input(swipe, { ...touchOf('first', 0), device_id: 'device-2' })).toBe('');
    await tellLease(5, 'device-2');
    const before = host.service.connections;
    host.service.cut();
    await host.service.untilReady(serial, before);
    expect(await input(swipe, { ...touchOf('first', 0), device_id: 'device-2' })).toBe('');
  });
});

describe('a password that was typed', () => {
  const type = (text: string, touch = touchOf('first')): Promise<string> =>
    input({ type: 'text', text }, touch);
  const key = (key_code: number, touch: HostTouch): Promise<string> =>
    input({ type: 'key', key_code }, touch);
  const held = (): string | undefined => host.phone.android.findFieldText('password');

  async function focusPassword(touch: HostTouch): Promise<void> {
    const request_id = randomUUID();
    host.service.send({ type: 'screen', request_id, serial, width: null, picture: false });
    await answerTo(request_id);
    const shown = host.service.arrivals.findLast(({ kind }) => kind === 'screen');
    const { tree }: { tree: ScreenTree } = JSON.parse(shown?.kind === 'screen' ? shown.bytes.toString() : '');
    const field = findNode(tree.root, ({ password }) => password)?.boundsInScreen;
    await input({ type: 'tap', x: (field?.left ?? 0) + 10, y: (field?.top ?? 0) + 10 }, touch);
  }

  beforeEach(async () => {
    host.phone.android.startActivity('dev.phalanx.sample.form');
    await focusPassword(touchOf('first'));
  });

  it('is known to whoever types on', async () => {
    await type('söme');
    expect(await type(' thing')).toBe('');
    expect(held()).toBe('söme thing');
  });

  it('is known to nobody else, whatever its length is, and the refusal tells how to go on', async () => {
    await type('hunter2');
    const refusals = new Set<string>();
    for (let presses = 0; presses < 3; presses += 1) {
      refusals.add(await type('x', touchOf('next')));
      await key(67, touchOf('next'));
    }
    expect([...refusals]).toEqual([expect.stringContaining('clearText')]);
    expect(held()).toBe('hunt');
  });

  it.each<[string, () => Promise<unknown>]>([
    ['another call that changes the screen', () => key(24, touchOf('next'))],
    ['a touch of its own user', () => focusPassword(touchOf('first'))],
    ['another lease', () => tellLease(2)],
    [
      'a run',
      async () => {
        const runId = host.launch('await agent.utils.sleep(1);');
        await host.service.untilEnded(runId);
      },
    ],
  ])('is forgotten after %s', async (_, change) => {
    await type('söme');
    await change();
    expect(await type(' thing', touchOf('first', 2))).toContain('clearText');
    expect(held()).toBe('söme');
  });

  it('of a run is not known after it', async () => {
    const code = "await agent.actions.writeText('hunter2');";
    await host.service.untilEnded(host.launch(code));
    expect(held()).toBe('hunter2');
    expect(await type('x')).toContain('clearText');
    const other = "await agent.actions.writeText('x').catch((error) => console.log(error.message));";
    await host.service.untilEnded(host.launch(other));
    expect(held()).toBe('hunter2');
  });
});

describe('a text on the clipboard', () => {
  const copy = (touch: HostTouch): Promise<string> => input({ type: 'clipboard', text: 'hunter2' }, touch);
  const held = (): string => host.phone.android.clipboard;
  const untilEmpty = (): Promise<void> => host.service.until(() => held() === '');

  async function readAs(touch: HostTouch): Promise<string> {
    const request_id = randomUUID();
    host.service.send({ type: 'clipboard', request_id, serial, touch });
    await answerTo(request_id);
    const found = host.service.arrivals.find((one) => 'requestId' in one && one.requestId === request_id);
    return found !== undefined && 'bytes' in found ? found.bytes.toString() : '';
  }

  it('stays for who has put it there, and is gone before anybody else reads it', async () => {
    await host.stop();
    await host.reopen({ PHALANX_HELPER: 'resident' });
    expect(await copy(touchOf('first'))).toBe('');
    expect(await readAs(touchOf('first'))).toContain('hunter2');
    expect(await readAs(touchOf('next'))).not.toContain('hunter2');
    expect(held()).toBe('');
  });

  it.each<[string, () => Promise<unknown>]>([
    ['another lease begins or ends', () => tellLease(2)],
    ['a run begins', async () => host.launch('await agent.utils.sleep(1);')],
  ])('is gone when %s', async (_, change) => {
    await copy(touchOf('first'));
    expect(held()).toBe('hunter2');
    await change();
    await untilEmpty();
  });

  it('of a run is gone with it, also when the phone was away at its end', async () => {
    const runId = host.launch(`await agent.actions.setClipboard('hunter2');`);
    await host.service.untilEnded(runId);
    await untilEmpty();
    const other = host.launch(
      `await agent.actions.setClipboard('hunter2'); console.log('set'); await agent.utils.sleep(60_000);`,
    );
    await host.service.until(() => host.service.messages(other).includes('set'));
    const before = host.statesOf(serial).length;
    host.phone.faults.drop();
    host.service.send({ type: 'stop', run_ids: [other] });
    await host.service.untilEnded(other);
    await host.service.until(() => host.statesOf(serial).slice(before).includes('ready'));
    await untilEmpty();
    expect(held()).toBe('');
  });
});
