import { randomUUID } from 'node:crypto';

import { maxVerdictTextLength } from '@phalanx/protocol';
import { describe, expect, it } from 'vitest';

import { serial, useTestHost } from '../../testing/test-host.ts';
import { nodeOf } from '../../testing/node-of.ts';

const host = useTestHost();

describe('a host that is asked for a screenshot', () => {
  it('sends a screenshot as JPEG', async () => {
    const request_id = randomUUID();
    host.service.send({ type: 'screenshot', request_id, serial });
    await host.service.until(() => host.service.arrivals.some(({ kind }) => kind === 'screenshot'));
    const picture = host.service.arrivals.find((arrival) => arrival.kind === 'screenshot');
    expect(picture?.requestId).toBe(request_id);
    expect(picture?.bytes.subarray(0, 3).toString('hex')).toBe('ffd8ff');
  });

  it('says why there is no screenshot', async () => {
    const requestId = randomUUID();
    host.service.send({ type: 'screenshot', request_id: requestId, serial: 'another' });
    await host.service.until(() => host.service.arrivals.some(({ kind }) => kind === 'request_failed'));
    const message = 'The phone another is not connected to this host';
    expect(host.service.arrivals.at(-1)).toEqual({ kind: 'request_failed', requestId, message });
  });
});

describe('a host that is asked for a screen', () => {
  const answer = async (width: number | null): Promise<unknown> => {
    const request_id = randomUUID();
    host.service.send({ type: 'screen', request_id, serial, width });
    const isAnswer = (arrival: (typeof host.service.arrivals)[number]): boolean =>
      arrival.kind === 'screen' && arrival.requestId === request_id;
    await host.service.until(() => host.service.arrivals.some(isAnswer));
    const found = host.service.arrivals.find(isAnswer);
    return found?.kind === 'screen' ? JSON.parse(found.bytes.toString()) : undefined;
  };

  it('sends tree and picture', async () => {
    expect(await answer(100)).toMatchObject({
      width: 1080,
      height: 2400,
      picture: { mime_type: 'image/jpeg', base64: expect.stringMatching(/^\/9j\//) },
      tree: { root: { children: expect.any(Array) } },
    });
  });

  it('sends no picture of a window that forbids it', async () => {
    host.phone.faults.secureWindow = true;
    expect(await answer(null)).toMatchObject({ width: 1080, height: 2400, picture: null });
    host.phone.faults.secureWindow = false;
  });
});

describe('a host that is asked what code makes of saved screens', () => {
  it('replays them, says nothing of those that the time did not reach, and goes on after hostile code', async () => {
    const honest = `
      const screen = await agent.actions.screenContent();
      const state = screen.packageName === 'com.shop' ? agent.arguments.automationParameters.name : 'unknown';
      await agent.utils.outOfSteps.storeScreen(screen, 'pay', state, 1, 'none');
      await agent.actions.tap(1, 1);`;
    const given = { source_map: null, parameters: { name: 'Cart' }, job_variables: {}, fetches: [] };
    const screens = ['com.shop', 'com.other'].map((packageName) => ({
      tree_json: JSON.stringify({
        root: nodeOf({ packageName: packageName }),
        packageName,
        rotation: 0,
        capturedAt: 1,
      }),
      stage: 'pay',
    }));
    const answerWithin = async (budget_ms: number, code = honest): Promise<unknown> => {
      const request_id = randomUUID();
      host.service.send({ type: 'replay', serial: '', request_id, code, ...given, screens, budget_ms });
      const find = () =>
        host.service.arrivals.find((one) => one.kind === 'replay' && one.requestId === request_id);
      await host.service.until(() => find() !== undefined);
      const found = find();
      return found?.kind === 'replay' ? JSON.parse(found.bytes.toString()) : undefined;
    };
    const verdicts = ['Cart', 'unknown'].map((state) => ({
      kind: 'state',
      state,
      stage: 'pay',
      next: 'acts',
      did: [expect.any(String)],
      message: null,
    }));
    expect(await answerWithin(10_000)).toEqual({ verdicts });
    expect(await answerWithin(0)).toEqual({ verdicts: [null, null] });
    expect(await answerWithin(3000, 'for (;;) {}')).toHaveProperty('verdicts.0.kind', 'limit');
    const long = await answerWithin(10_000, 'throw new Error("x".repeat(1e6))');
    expect(long).toHaveProperty('verdicts.1.message.length', maxVerdictTextLength);
    expect(await answerWithin(10_000)).toEqual({ verdicts });
  });
});
