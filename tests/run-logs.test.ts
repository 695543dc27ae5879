import { setTimeout as sleep } from 'node:timers/promises';
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

async function until(isMet: () => Promise<boolean>): Promise<void> {
  while (!(await isMet().catch(() => false))) await sleep(50);
}

const hasEnded = async (launchId: string): Promise<boolean> =>
  ((await installation.findRun(launchId))?.ended_at ?? null) !== null;

test('the log of a run has each line once, though the server is killed in the middle of it, twice, and then the host', async () => {
  installation = await Installation.start(1);
  const [device] = await installation.readyDevices();
  const deviceId = device?.device_id ?? '';
  const launchId = await installation.launch(deviceId, lines);
  const runId = await runIdOf(launchId);
  for (const reached of [100, 300]) {
    await until(async () => (await messagesOf(runId)).length > reached);
    await installation.server.end('SIGKILL');
    await installation.restartServer();
  }
  await until(() => hasEnded(launchId));
  expect(await messagesOf(runId)).toEqual(Array.from({ length: 600 }, (_, index) => `line ${index + 1}`));
  const { run } = await installation.api.call(runRoutes.get, { params: { id: runId } });
  expect(run).toMatchObject({ status: 'completed', outcome: 'succeeded', result: { lines: 600 } });

  await installation.readyDevices();
  const second = await installation.launch(deviceId, lines);
  const secondId = await runIdOf(second);
  await until(async () => (await messagesOf(secondId)).length > 100);
  await installation.host.end('SIGKILL');
  installation.restartHost();
  await until(() => hasEnded(second));
  const messages = await messagesOf(secondId);
  expect(messages).toEqual(messages.map((_, index) => `line ${index + 1}`));
  expect(messages.length).toBeGreaterThan(100);
  const failed = await installation.api.call(runRoutes.get, { params: { id: secondId } });
  expect(failed.run).toMatchObject({ outcome: 'failed', error: { code: 'host_restarted' } });
}, 240_000);
