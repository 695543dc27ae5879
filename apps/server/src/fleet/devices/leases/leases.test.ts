import type { HostTouch } from '@phalanx/protocol';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import type { ApiReply } from '../../../testing/api-caller.ts';
import { EventReader } from '../../../testing/event-reader.ts';
import { numberAt } from '../../../testing/test-server.ts';
import { SharedPhone, type Caller } from '../testing/shared-phone.ts';

let phone: SharedPhone;
beforeAll(async () => {
  phone = await SharedPhone.start();
});
afterAll(() => phone.dispose());
beforeEach(() => phone.reset());

const device = async (): Promise<Record<string, unknown>> =>
  ((await phone.read('view')).body['device'] ?? {}) as Record<string, unknown>;
const expiry = (reply: ApiReply): number => numberAt(reply.body['lease'], 'expires_at');
/**
 * Waits until all servers know the lease. They read each other's leases within a second, long before one expires,
 * unless the clock jumps.
 */
const leasedEverywhere = async (expiresAt: number): Promise<void> => {
  for (const api of phone.server.apis) {
    const read = async (): Promise<number> => {
      const { body } = await api('GET', `/api/v2/devices/${phone.deviceId}`);
      return numberAt((body['device'] as { lease: unknown }).lease, 'expires_at');
    };
    await expect.poll(read).toBeGreaterThanOrEqual(expiresAt);
  }
};
const later = (ms: number): Promise<void> => {
  phone.server.clock.advance(ms);
  return phone.host.heartbeat();
};

describe('a phone in the hand of somebody', () => {
  it('is busy, and everybody sees who has it and until when', async () => {
    expect(await device()).toMatchObject({ state: 'ready', lease: null });
    const reply = await phone.lease('launch');
    expect(reply).toMatchObject({ status: 200, body: { lease: { user: { name: 'launch' } } } });
    expect(expiry(reply) - numberAt(reply.body['lease'], 'since')).toBe(60_000);
    expect(await device()).toMatchObject({
      state: 'busy',
      reason: 'Controlled by hand by launch',
      since: numberAt(reply.body['lease'], 'since'),
      lease: { user: { name: 'launch' }, expires_at: expiry(reply) },
    });
  });

  it('is touched by them alone, and launched on by them alone', async () => {
    await phone.lease('launch');
    for (const other of ['owner', 'launch by the host'] satisfies Caller[]) {
      expect(await phone.touch(other)).toMatchObject({ status: 409, body: { code: 'device_leased' } });
      expect(await phone.lease(other)).toMatchObject({ status: 409, body: { code: 'device_leased' } });
      expect(await phone.launchDirect(other)).toMatchObject({
        status: 400,
        body: {
          code: 'devices_unavailable',
          message: expect.stringMatching(/controlled by hand by launch until .*Z/),
          devices: [{ outcome: 'refused', code: 'device_leased' }],
        },
      });
    }
    expect((await phone.touch('launch')).status).toBe(200);
    expect((await phone.launchDirect('launch')).status).toBe(200);
  });

  it('goes on with what runs there, which others may still stop', async () => {
    await phone.runDirect('owner');
    expect((await phone.lease('launch')).status).toBe(200);
    expect(await device()).toMatchObject({
      reason: 'Running an automation of administrator. Controlled by hand by launch',
      running: [{}],
    });
    expect((await phone.stopAll('owner')).status).toBe(200);
  });

  it('is free again once the lease has expired; asking again and each touch let it begin anew', async () => {
    const first = expiry(await phone.lease('launch', { duration_ms: 10_000 }));
    await leasedEverywhere(first);
    await later(8000);
    await phone.touch('launch');
    await leasedEverywhere(first + 8000);
    await later(8000);
    expect(await phone.touch('owner')).toMatchObject({ status: 409 });
    const renewed = await phone.lease('launch', { duration_ms: 10_000 });
    expect(expiry(renewed) - first).toBeGreaterThanOrEqual(16_000);
    expect(first - numberAt(renewed.body['lease'], 'since')).toBe(10_000);
    await later(10_000);
    expect((await phone.touch('owner')).status).toBe(200);
    expect(await device()).toMatchObject({ lease: null });
  });

  it('is given back by its holder, or by the owner of the phone', async () => {
    await phone.lease('launch');
    expect(await phone.endLease('launch by the host')).toMatchObject({ status: 409 });
    expect(await phone.endLease('launch')).toMatchObject({ status: 200 });
    expect(await phone.endLease('launch')).toMatchObject({
      status: 200,
      body: { message: expect.stringContaining('was not leased') },
    });
    await phone.lease('launch');
    expect(await phone.endLease('owner')).toMatchObject({ status: 200 });
    expect((await phone.touch('owner')).status).toBe(200);
  });

  it('is free at once when its holder may no longer touch it', async () => {
    await phone.lease('launch');
    await phone.share(`devices/${phone.deviceId}`, 'launch', 'view');
    expect(await device()).toMatchObject({ lease: null });
    expect((await phone.touch('owner')).status).toBe(200);
  });

  it('is told of in the events: when it is taken, and when it is free, also without a word', async () => {
    const reader = await EventReader.open(`${phone.server.url}/api/v2/events`, phone.secretOf('view'));
    const sees = (state: string): Promise<unknown> =>
      reader.waitFor(({ data }) => (data as { device?: { state: string } }).device?.state === state);
    const busy = sees('busy');
    await phone.lease('launch', { duration_ms: 5000 });
    expect(await busy).toMatchObject({ data: { device: { lease: { user: { name: 'launch' } } } } });
    const ready = sees('ready');
    await later(5000);
    expect(await ready).toMatchObject({ data: { device: { lease: null } } });
    reader.close();
  });
});

describe('the host of a phone', () => {
  const told = (): number[] => phone.host.messages('lease').map(({ lease }) => lease);
  const lastTouch = (): HostTouch | undefined => phone.host.messages('input').at(-1)?.touch;

  it('hears of each lease that begins or ends, and with each touch of how many did', async () => {
    await phone.touch('launch');
    const before = lastTouch();
    expect(before).toMatchObject({ device_id: phone.deviceId });
    await phone.lease('launch');
    await phone.lease('launch');
    await phone.touch('launch');
    const begun = lastTouch();
    await phone.endLease('launch');
    await phone.touch('launch');
    const ended = lastTouch();
    expect(told().slice(-2)).toEqual([begun?.lease, ended?.lease]);
    expect((begun?.lease ?? 0) - (before?.lease ?? 0)).toBe(1);
    expect((ended?.lease ?? 0) - (begun?.lease ?? 0)).toBe(1);
  });

  it('is told who touches, in words that say nothing of users', async () => {
    await phone.touch('owner');
    const owner = lastTouch()?.by;
    await phone.touch('launch');
    const other = lastTouch()?.by;
    await phone.touch('owner');
    expect(lastTouch()?.by).toBe(owner);
    expect(other).not.toBe(owner);
    for (const user of ['owner', 'launch'] as const)
      expect(JSON.stringify(phone.host.messages('input'))).not.toContain(phone.idOf(user));
  });

  it('hears of a lease that has expired before the next one holds', async () => {
    await phone.lease('launch', { duration_ms: 5000 });
    await phone.touch('launch');
    const expired = lastTouch()?.lease ?? 0;
    phone.server.clock.advance(6000);
    await phone.host.heartbeat();
    expect((await phone.lease('owner')).status).toBe(200);
    await phone.touch('owner');
    expect(lastTouch()?.lease).toBeGreaterThan(expired);
    await phone.endLease('owner');
  });
});
