import { randomUUID } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import { serial, useTestHost } from '../testing/test-host.ts';

const host = useTestHost();

describe('a host that is asked for a screenshot', { timeout: 60_000 }, () => {
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
