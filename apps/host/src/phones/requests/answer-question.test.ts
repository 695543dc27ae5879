import { randomUUID } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import { serial, useTestHost } from '../../testing/test-host.ts';

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
