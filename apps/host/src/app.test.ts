import { openConfinement } from '@phalanx/confinement';
import { describe, expect, it } from 'vitest';

import { useTestHost } from './testing/test-host.ts';

const host = useTestHost();
const forever = "console.log('begun'); await new Promise((resolve) => setTimeout(resolve, 600_000));";

describe('a host', () => {
  it('keeps its ID over a restart', async () => {
    const { hostId } = host;
    await host.stop();
    await host.open();
    expect(hostId).toMatch(/^[0-9a-f-]{36}$/);
    expect(host.hostId).toBe(hostId);
  });

  it('gives times of the service clock, an hour off or not', async () => {
    await host.stop();
    host.service.clockOffsetMs = -3_600_000;
    await host.reopen();
    const before = host.service.now();
    const runId = host.launch("console.log('now');");
    const end = await host.service.untilEnded(runId);
    const [entry] = host.service.logs.get(runId) ?? [];
    for (const time of [end.started_at, end.ended_at, entry?.[0]]) {
      expect(time).toBeGreaterThanOrEqual(before - 1000);
      expect(time).toBeLessThanOrEqual(host.service.now() + 1000);
    }
    const devices = host.service.arrivals.flatMap((arrival) =>
      arrival.kind === 'devices' ? arrival.devices : [],
    );
    expect(devices.at(-1)?.since).toBeLessThanOrEqual(host.service.now() + 1000);
  });

  it('refuses to start a second time on the same data folder', async () => {
    await expect(host.open()).rejects.toThrow(/is in use by another host program/);
    expect(host.service.connections).toBe(1);
  });

  it('ends its runs as failed when it is stopped, and says goodbye', async () => {
    const runId = host.launch(forever);
    await host.service.until(() => host.service.messages(runId).length > 0);
    await host.stop();
    expect(host.service.runs.get(runId)).toMatchObject({ status: 'failed', error: { code: 'host_stopped' } });
    expect(host.keysOf('run')).toEqual([]);
  });
});

describe('a host on a machine that can not confine user code', () => {
  it('runs it all the same, or does not start when confinement is required', async () => {
    const confinement = await openConfinement({ launcher: '/no/launcher' });
    await host.stop();
    await expect(host.open({ PHALANX_REQUIRE_CONFINEMENT: 'true' }, { confinement })).rejects.toThrow(
      /^PHALANX_REQUIRE_CONFINEMENT is true, but: User code is NOT confined/,
    );
    await host.reopen({}, {}, { confinement });
    const runId = host.launch("console.log((await fetch('http://127.0.0.1:9').catch((e) => e.message)))");
    expect((await host.service.untilEnded(runId)).status).toBe('completed');
    expect(host.service.messages(runId)).toEqual([expect.stringContaining('127.0.0.1')]);
  });

  it('starts where it is required and holds', async () => {
    await host.stop();
    const { holds } = await openConfinement();
    const opened = host.open({ PHALANX_REQUIRE_CONFINEMENT: 'true' });
    if (holds) await opened;
    else await expect(opened).rejects.toThrow(/NOT confined/);
  });
});
