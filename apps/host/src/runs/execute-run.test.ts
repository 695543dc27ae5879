import { describe, expect, it } from 'vitest';

import { serial, useTestHost } from '../testing/test-host.ts';

const host = useTestHost();
const forever = "console.log('begun'); await new Promise((resolve) => setTimeout(resolve, 600_000));";

describe('executeRun', { timeout: 60_000 }, () => {
  it('brings calls of the agent to the phone, under the ID that the service gave it', async () => {
    const runId = host.launch(`
      const info = await agent.info.device();
      console.log(info.deviceId, info.serial);
    `);
    const end = await host.service.untilEnded(runId);
    expect([end.error, host.service.messages(runId)]).toEqual([null, [`device-1 ${serial}`]]);
  });

  it('logs an uncaught error once and reports it', async () => {
    const runId = host.launch("throw new TypeError('no such thing');");
    const end = await host.service.untilEnded(runId);
    expect(end).toMatchObject({ status: 'failed', error: { code: 'uncaught_error' } });
    expect(end.error?.message).toContain('no such thing');
    const entries = host.service.logs.get(runId) ?? [];
    expect(entries).toHaveLength(1);
    expect(entries[0]?.[1]).toBe(2);
    expect(entries[0]?.[3]).toContain('no such thing');
  });

  it('says in the log, too, why it ended a run', async () => {
    await host.stop();
    await host.reopen({ PHALANX_RUN_TIME_LIMIT_SECONDS: '1' });
    const runId = host.launch(forever);
    expect(await host.service.untilEnded(runId)).toMatchObject({
      status: 'timed_out',
      error: { code: 'timed_out' },
    });
    expect(host.service.messages(runId)).toEqual(['begun', host.service.runs.get(runId)?.error?.message]);
  });

  it('fails calls with the reason when the phone is lost, and lets the code go on', async () => {
    const runId = host.launch(`
      console.log('begun');
      for (;;) {
        try {
          await agent.actions.screenContent();
        } catch (error) {
          console.log(error.message);
          break;
        }
      }
      console.log('still here');
    `);
    await host.service.until(() => host.service.messages(runId).length > 0);
    await host.phone.stop();
    expect(await host.service.untilEnded(runId)).toMatchObject({ status: 'completed', error: null });
    const [begun, reason, last] = host.service.messages(runId);
    expect([begun, last]).toEqual(['begun', 'still here']);
    expect(reason).toContain(serial);
  });

  it('fails a run at once whose phone is not ready, and says why', async () => {
    await host.phone.stop();
    await host.service.until(() => host.lastStateOf(serial) !== 'ready');
    const end = await host.service.untilEnded(host.launch("console.log('begun');"));
    expect(end).toMatchObject({ status: 'failed', started_at: null, error: { code: 'device_unavailable' } });
    expect(end.error?.message).toMatch(/^The phone simulated-1 is not ready \([a-z_]+\): ./);
  });
});
