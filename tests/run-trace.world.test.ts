import { until } from '@phalanx/host/testing/until';
import { type RunStep, runRoutes, traceRoutes } from '@phalanx/protocol';
import { afterEach, expect, test } from 'vitest';

import { Installation } from './support/installation.ts';

let installation: Installation;
afterEach(() => installation.stop());

/** Two steps a round: one that reads the screen, and one that does not reach the phone. */
const steps = `
for (let round = 1; round <= 150; round++) {
  await agent.actions.waitForText(/./);
  await agent.actions.sleep(40);
}
await agent.actions.waitForText('never comes', { timeoutMs: 200 });`;

const runLimitMs = 100_000;

async function traceOf(runId: string): Promise<RunStep[]> {
  const all: RunStep[] = [];
  for (let from: string | null | undefined; from !== null;) {
    const query = { limit: 70, ...(from !== undefined && { from }) };
    const page = await installation.api.call(traceRoutes.read, { params: { id: runId }, query });
    all.push(...page.steps);
    from = page.next_cursor;
  }
  return all;
}

async function runIdOf(launchId: string): Promise<string> {
  const { runs } = await installation.api.call(runRoutes.list, { query: { launch_id: launchId } });
  return runs[0]?.run_id ?? '';
}

/** The service may be away meanwhile. */
const untilMore = (runId: string, least: number): Promise<number> =>
  until(
    `more than ${least} steps`,
    async () => (await traceOf(runId).catch(() => [])).length,
    (count) => count > least,
    runLimitMs,
  );

const untilEnded = (launchId: string): Promise<unknown> =>
  until(
    'the end of the run',
    () => installation.findRun(launchId).catch(() => undefined),
    (run) => typeof run?.ended_at === 'number',
    runLimitMs,
  );

const numbersTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

test('the trace of a run has each step once, though the server is killed in the middle of it, and then the host', async () => {
  installation = await Installation.start(1);
  const [device] = await installation.readyDevices();
  const deviceId = device?.device_id ?? '';
  const launchId = await installation.launch(deviceId, steps);
  const runId = await runIdOf(launchId);
  await untilMore(runId, 30);
  await installation.server.end('SIGKILL');
  await installation.restartServer();
  await untilEnded(launchId);
  const trace = await traceOf(runId);
  expect(trace.map(({ step }) => step)).toEqual(numbersTo(301));
  const last = trace.at(-1);
  expect(last).toMatchObject({ name: 'waitForText', target: '"never comes"', outcome: 'wait_timeout' });
  const { run } = await installation.api.call(runRoutes.get, { params: { id: runId } });
  expect(run.last_screen?.screen._id).toBe(last?.after);

  await installation.readyDevices();
  const second = await installation.launch(deviceId, steps);
  const secondId = await runIdOf(second);
  const seen = await untilMore(secondId, 30);
  await installation.host.end('SIGKILL');
  installation.restartHost();
  await untilEnded(second);
  const cut = await traceOf(secondId);
  expect(cut.map(({ step }) => step)).toEqual(numbersTo(cut.length));
  expect(cut.length).toBeGreaterThanOrEqual(seen);
});
