import type { SandboxCallResult } from '@phalanx/protocol';
import { describe, expect, it } from 'vitest';
import { createAgentCallGate } from './sandbox-run.ts';

function openGate(onCall: () => Promise<unknown>) {
  const answers: [number, SandboxCallResult][] = [];
  const gate = createAgentCallGate(
    { onCall: onCall as never },
    (id, result) => void answers.push([id, result]),
  );
  const take = (name: string, params: unknown): Promise<void> =>
    gate.take({ type: 'call', id: 1, name, params });
  return { take, answers };
}

const bad: [name: string, params: unknown, message: string][] = [
  ['no.such', {}, 'The phone knows no call no.such.'],
  ['constructor', {}, 'The phone knows no call constructor.'],
  ['input.tap', { x: -1, y: 0 }, 'input.tap: x must be at least 0.'],
  ['input.tap', null, 'input.tap: what was given must be an object.'],
  ['app.launch', { packageName: 'a; reboot' }, 'input'],
  ['app.launch', { packageName: ['a.b'] }, 'app.launch: packageName must be a string.'],
  [
    'input.swipe',
    { fromX: 0, fromY: 0, toX: 0, toY: 0, durationMs: 1e9 },
    'input.swipe: durationMs must be at most 60000.',
  ],
];

describe('calls of a child', () => {
  it.each(bad)('that do not fit the table are refused: %s %j', async (name, params, message) => {
    const { take, answers } = openGate(() => Promise.reject(new Error('must not be called')));
    await take(name, params);
    const [, answer] = answers[0] ?? [];
    expect(answer).toMatchObject({ ok: false, error: { code: 'invalid_call' } });
    expect(JSON.stringify(answer)).toContain(message.startsWith('input') ? '' : message);
  });

  it('are at most 64 at a time', async () => {
    const open = Promise.withResolvers<unknown>();
    const { take, answers } = openGate(() => open.promise);
    const calls = Array.from({ length: 65 }, () => take('navigate.back', {}));
    await calls[64];
    expect(answers).toMatchObject([[1, { ok: false, error: { message: 'Too many calls at a time.' } }]]);
    open.resolve(undefined);
    await Promise.all(calls);
    expect(answers).toHaveLength(65);
  });

  it('are answered when the host’s side throws at once', async () => {
    const { take, answers } = openGate(() => {
      throw Object.assign(new Error('gone'), { code: 'device_offline' });
    });
    await take('navigate.back', {});
    expect(answers).toEqual([[1, { ok: false, error: { code: 'device_offline', message: 'gone' } }]]);
  });

  it('are given up one by one, and all at the end of the run', async () => {
    const answers: [number, SandboxCallResult][] = [];
    const onCall = (_name: unknown, _params: unknown, signal: AbortSignal): Promise<never> =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    const gate = createAgentCallGate({ onCall }, (id, result) => void answers.push([id, result]));
    const [first, second] = [1, 2].map((id) =>
      gate.take({ type: 'call', id, name: 'navigate.back', params: {} }),
    );
    gate.cancel(3);
    gate.cancel(1);
    await first;
    expect(answers).toMatchObject([[1, { error: { message: 'The automation has given it up.' } }]]);
    gate.end();
    await second;
    expect(answers[1]).toMatchObject([2, { error: { message: 'The run has ended.' } }]);
  });
});
