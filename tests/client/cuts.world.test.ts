import { PhalanxClient, ServiceError, type LogEntry } from '@phalanx/client';
import { runRoutes } from '@phalanx/protocol';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { Cable } from '../support/cable.ts';
import { Installation } from '../support/installation.ts';

/** Number of times that the client's connections are cut; every tenth time the server is killed. */
const cuts = Number(process.env['CLIENT_CUTS'] ?? 12);
const cutsBetweenKills = 10;
const linesBetweenCuts = 20;
const lineCount = (cuts + 2) * linesBetweenCuts;
const timeLimitMs = 120_000 + cuts * 10_000;

const lines = `
for (let line = 1; line <= ${lineCount}; line++) {
  console.log('line ' + line);
  if (line % 10 === 0) await agent.actions.sleep(100);
}
agent.control.setResult({ lines: ${lineCount} });`;

let installation: Installation;
let cable: Cable;
let client: PhalanxClient;

beforeEach(async () => {
  installation = await Installation.start(1);
  const { PHALANX_SERVER_URL: url = '', PHALANX_TOKEN: token } = installation.callerSettings;
  cable = await Cable.to(url);
  client = new PhalanxClient({ url: cable.url, token });
});
afterEach(async () => {
  cable.close();
  await installation.stop();
});

const numberOf = ({ message }: LogEntry): number => Number(message.replace('line ', ''));
const allNumbers = Array.from({ length: lineCount }, (_, index) => index + 1);

/** Cuts the connections after a number of lines, and kills the server at some of the cuts. */
async function breakAt(number: number): Promise<void> {
  const cut = number / linesBetweenCuts;
  if (!Number.isInteger(cut) || cut > cuts) return;
  cable.cut();
  if (cut % cutsBetweenKills !== 0) return;
  await installation.server.end('SIGKILL');
  await installation.restartServer();
}

test(
  'logs, events and the end of a run come once and in order, though connections are cut and the server is killed',
  { timeout: timeLimitMs },
  async () => {
    const [device] = await installation.readyDevices();
    const deviceId = device?.device_id ?? '';
    const closing = new AbortController();
    const told: number[] = [];
    const states: string[] = [];
    const events = await client.events({ signal: closing.signal });
    const follow = async (): Promise<void> => {
      for await (const event of events) {
        if (event.type === 'log') told.push(...event.logs.map(numberOf));
        if (event.type === 'run') states.push(event.run.status);
      }
    };
    const following = follow().catch((error: unknown) => {
      if (!closing.signal.aborted) throw error;
    });
    const run = await client.launchCode({ deviceId, code: lines, name: 'lines.ts' });
    const waiting = run.wait();
    const read: number[] = [];
    for await (const entry of run.logs()) {
      read.push(numberOf(entry));
      await breakAt(numberOf(entry));
    }
    expect(read).toEqual(allNumbers);
    expect(await waiting).toMatchObject({ outcome: 'succeeded', result: { lines: lineCount } });
    await expect.poll(() => states.at(-1)).toBe('completed');
    await expect.poll(() => told.length).toBeGreaterThanOrEqual(lineCount);
    closing.abort();
    await following;
    expect(told).toEqual(allNumbers);
    expect(states).toEqual([...new Set(states)]);
  },
);

test('a launch whose answer is lost is sent again and starts one run; refusals have codes', async () => {
  const [device] = await installation.readyDevices();
  const deviceId = device?.device_id ?? '';
  const launching = client.launchCode({ deviceId, code: 'await agent.actions.sleep(2000);' });
  await expect.poll(async () => (await installation.api.call(runRoutes.list)).runs.length).toBe(1);
  cable.cut();
  const run = await launching;
  expect(await run.wait()).toMatchObject({ outcome: 'succeeded' });
  expect((await client.api.listRuns()).runs).toHaveLength(1);
  await run.stop();

  const refused = client.api.getDevice({ params: { id: 'none' } });
  await expect(refused).rejects.toThrow(ServiceError);
  await expect(refused).rejects.toMatchObject({ code: 'device_not_found', status: 404 });

  const { project } = await client.api.createProject({ body: { name: 'uploaded' } });
  const { id } = project;
  await client.uploadFiles(id, { 'main.ts': "console.log('uploaded');", 'data.json': '{}' });
  const { files } = await client.api.listFiles({ params: { id } });
  expect(files.map(({ path }) => path)).toEqual(expect.arrayContaining(['main.ts', 'data.json']));
  const [started] = await client.launchProject({ projectId: id, deviceIds: [deviceId] });
  const messages: string[] = [];
  for await (const { message } of started?.logs() ?? []) messages.push(message);
  expect(messages).toEqual(['uploaded']);

  await client.uploadFiles(id, { 'main.ts': 'await agent.actions.sleep(2000);' });
  const starting = client.launchProject({ projectId: id, deviceIds: [deviceId] });
  const runsOfProject = async (): Promise<number> =>
    (await installation.api.call(runRoutes.list, { query: { automation_id: id } })).runs.length;
  await expect.poll(runsOfProject).toBe(2);
  cable.cut();
  const [resent] = await starting;
  expect(await resent?.wait()).toMatchObject({ outcome: 'succeeded' });
  expect(await runsOfProject()).toBe(2);
});
