import { describe, expect, it } from 'vitest';

import { useTestHost } from './testing/test-host.ts';

const host = useTestHost();
const forever = "console.log('begun'); await new Promise((resolve) => setTimeout(resolve, 600_000));";

describe('a host', { timeout: 60_000 }, () => {
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
    expect(await host.filesOf('runs')).toEqual([]);
  });
});
