import { randomUUID } from 'node:crypto';
import type { RunReport } from '@phalanx/protocol';

import { describe, expect, it } from 'vitest';

import { launchOf } from '../testing/launch-of.ts';
import { serial, useTestHost } from '../testing/test-host.ts';

const host = useTestHost();
const forever = "console.log('begun'); await new Promise((resolve) => setTimeout(resolve, 600_000));";

describe('a host that is told to launch and stop', () => {
  it('executes a launch that comes twice only once, and reports it again', async () => {
    const run = { run_id: randomUUID(), device_id: 'device-1', serial };
    const message = launchOf(forever, [run]);
    host.service.send(message);
    host.service.send(message);
    await host.service.until(() => host.service.messages(run.run_id).length > 0);
    host.service.send(message);
    await host.service.until(() =>
      host.service.reportsOf(run.run_id).some(({ status }) => status === 'running'),
    );
    host.service.send({ type: 'stop', run_ids: [run.run_id] });
    await host.service.untilEnded(run.run_id);
    const reports = host.service.reportsOf(run.run_id).length;
    host.service.send(message);
    await host.service.until(() => host.service.reportsOf(run.run_id).length > reports);
    expect(host.service.runs.get(run.run_id)?.status).toBe('stopped');
    expect(host.service.messages(run.run_id)).toEqual(['begun']);
  });

  it('runs no line before the service lets it, and none when the service calls it off', async () => {
    host.service.permitsRuns = false;
    const [first, second] = [host.launch(forever), host.launch(forever)];
    const isLoaded = (id: string): boolean => host.service.runs.get(id)?.is_loaded === true;
    await host.service.until(() => isLoaded(first) && isLoaded(second));
    const connections = host.service.connections;
    host.service.cut();
    await host.service.until(() => host.service.connections > connections);
    host.service.send({ type: 'stop', run_ids: [first] });
    expect(await host.service.untilEnded(first)).toMatchObject({ status: 'stopped', started_at: null });
    host.service.permit([first, second]);
    await host.service.until(() => host.service.messages(second).length > 0);
    expect(host.service.messages(first)).toEqual([]);
  });

  it('gives the runs of a launch as long to be loaded as the service waits for them', async () => {
    await host.stop();
    await host.reopen({}, {}, { timings: { runStartMs: 0 } });
    const launch = async (more: { start_within_ms?: number }): Promise<RunReport> => {
      const run = { run_id: randomUUID(), device_id: 'device-1', serial };
      host.service.send({ ...launchOf("console.log('hello');", [run]), ...more });
      return await host.service.untilEnded(run.run_id);
    };
    expect((await launch({})).error?.code).toBe('start_timed_out');
    expect(await launch({ start_within_ms: 60_000 })).toMatchObject({ status: 'completed' });
  });

  it('starts many runs of one launch', async () => {
    const runs = Array.from({ length: 6 }, () => ({ run_id: randomUUID(), device_id: 'device-1', serial }));
    host.service.send(launchOf("console.log('hello');", runs));
    for (const { run_id } of runs)
      expect(await host.service.untilEnded(run_id)).toMatchObject({ status: 'completed' });
    for (const { run_id } of runs) expect(host.service.messages(run_id)).toEqual(['hello']);
  });

  it('stops a run, also in an endless loop', async () => {
    const runId = host.launch("console.log('begun'); for (;;) {}");
    await host.service.until(() => host.service.messages(runId).length > 0);
    host.service.send({ type: 'stop', run_ids: [runId] });
    expect(await host.service.untilEnded(runId)).toMatchObject({ status: 'stopped', error: null });
  });

  it('stops a run before it has begun', async () => {
    const runId = host.launch("console.log('begun');");
    host.service.send({ type: 'stop', run_ids: [runId] });
    expect(await host.service.untilEnded(runId)).toMatchObject({ status: 'stopped', started_at: null });
    expect(host.service.messages(runId)).toEqual([]);
  });

  it('answers a stop of a run it never had, and does not start it afterwards', async () => {
    const run = { run_id: randomUUID(), device_id: 'device-1', serial };
    host.service.send({ type: 'stop', run_ids: [run.run_id] });
    expect(await host.service.untilEnded(run.run_id)).toMatchObject({
      status: 'failed',
      error: { code: 'not_started', message: 'The host never had this run.' },
      started_at: null,
    });
    const reports = host.service.reportsOf(run.run_id).length;
    host.service.send(launchOf("console.log('begun');", [run]));
    await host.service.until(() => host.service.reportsOf(run.run_id).length > reports);
    expect(host.service.runs.get(run.run_id)?.error?.code).toBe('not_started');
    expect(host.service.messages(run.run_id)).toEqual([]);
  });

  it('fails a run at once whose phone it does not have', async () => {
    const runId = host.launch("console.log('begun');", 'another');
    expect(await host.service.untilEnded(runId)).toMatchObject({
      status: 'failed',
      error: { code: 'device_unavailable', message: 'The phone another is not connected to this host.' },
      started_at: null,
    });
  });
});
