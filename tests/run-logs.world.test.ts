import { until } from '@phalanx/host/testing/until';
import { runRoutes } from '@phalanx/protocol';
import { afterEach, expect, test } from 'vitest';

import { Installation } from './support/installation.ts';

let installation: Installation;
afterEach(() => installation.stop());

const lines = `
for (let line = 1; line <= 600; line++) {
  console.log('line ' + line);
  if (line % 10 === 0) await agent.actions.sleep(100);
}
agent.control.setResult({ lines: 600 });`;

async function messagesOf(runId: string): Promise<string[]> {
  const messages: string[] = [];
  for (let from: string | null | undefined; from !== null;) {
    const query = { limit: 100, ...(from !== undefined && { from }) };
    const page = await installation.api.call(runRoutes.logs, { params: { id: runId }, query });
    messages.push(...page.logs.map(({ message }) => message));
    from = page.next_cursor;
  }
  return messages;
}

async function runIdOf(launchId: string): Promise<string> {
  const { runs } = await installation.api.call(runRoutes.list, { query: { launch_id: launchId } });
  return runs[0]?.run_id ?? '';
}

/** With a restart of the service in it. */
const runLimitMs = 100_000;

/** The service may be away meanwhile. */
const untilMore = (runId: string, least: number): Promise<number> =>
  until(
    `more than ${least} lines`,
    async () => (await messagesOf(runId).catch(() => [])).length,
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

test('the log of a run has each line once, though the server is killed in the middle of it, twice, and then the host', async () => {
  installation = await Installation.start(1);
  const [device] = await installation.readyDevices();
  const deviceId = device?.device_id ?? '';
  const launchId = await installation.launch(deviceId, lines);
  const runId = await runIdOf(launchId);
  for (const reached of [100, 300]) {
    await untilMore(runId, reached);
    await installation.server.end('SIGKILL');
    await installation.restartServer();
  }
  await untilEnded(launchId);
  expect(await messagesOf(runId)).toEqual(Array.from({ length: 600 }, (_, index) => `line ${index + 1}`));
  const { run } = await installation.api.call(runRoutes.get, { params: { id: runId } });
  expect(run).toMatchObject({ status: 'completed', outcome: 'succeeded', result: { lines: 600 } });

  await installation.readyDevices();
  const second = await installation.launch(deviceId, lines);
  const secondId = await runIdOf(second);
  await untilMore(secondId, 100);
  await installation.host.end('SIGKILL');
  installation.restartHost();
  await untilEnded(second);
  const messages = await messagesOf(secondId);
  expect(messages).toEqual(messages.map((_, index) => `line ${index + 1}`));
  expect(messages.length).toBeGreaterThan(100);
  const failed = await installation.api.call(runRoutes.get, { params: { id: secondId } });
  expect(failed.run).toMatchObject({ outcome: 'failed', error: { code: 'host_restarted' } });
});
