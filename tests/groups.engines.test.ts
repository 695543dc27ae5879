import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '@phalanx/client/service-errors';
import { until } from '@phalanx/host/testing/until';
import {
  fileRoutes,
  groupRoutes,
  jobRoutes,
  projectRoutes,
  recordRoutes,
  type Replay,
  replayRoutes,
} from '@phalanx/protocol';
import { afterEach, expect, test } from 'vitest';

import { Installation } from './support/installation.ts';

/** Number of kills. `KILL_ROUNDS=200 npm run test:engines -- tests/groups` runs longer. */
const rounds = Number(process.env['KILL_ROUNDS'] ?? '4');
const recordsARound = 9;
const timeLimitMs = 120_000 + rounds * 30_000;

const code = `
const { row } = agent.arguments.jobVariables as { row: number };
const screen = await agent.actions.screenContent();
await agent.utils.outOfSteps.storeScreen(screen, 'shop', 'unknown', 0, 'none');
await agent.utils.outOfSteps.submit('outOfSteps');
agent.control.setResult({ row });`;

let installation: Installation;

afterEach(() => installation.stop());

async function makeProject(): Promise<string> {
  const { api } = installation;
  const { project } = await api.call(projectRoutes.create, { body: { name: 'screens' } });
  await api.call(fileRoutes.write, { params: { id: project.id }, body: { path: 'main.ts', content: code } });
  return project.id;
}

const listGroups = async (automation_id: string) =>
  (await installation.api.call(groupRoutes.list, { query: { automation_id } })).groups;

async function membersOf(id: string): Promise<string[]> {
  const members: string[] = [];
  for (let cursor: string | undefined; ;) {
    const query = { limit: 1000, ...(cursor === undefined ? {} : { cursor }) };
    const page = await installation.api.call(groupRoutes.listRecords, { params: { id }, query });
    members.push(...page.records.map(({ record_id: record }) => record));
    if (page.next_cursor === null) return members;
    cursor = page.next_cursor;
  }
}

/** Marks each group and undoes the mark. */
async function markAndUndo(automationId: string): Promise<void> {
  for (const { id } of await listGroups(automationId)) {
    const params = { id };
    await installation.api.call(groupRoutes.change, { params, body: { status: 'solved' } });
    await installation.api.call(groupRoutes.undo, { params });
  }
}

/**
 * Undoes the marks whose replies were lost in a kill. Later marks may lie on top of them, or a newer record may have
 * reopened the group: then the group is open, and the records of the mark are still solved.
 */
async function undoAll(automationId: string): Promise<void> {
  for (const { id } of await listGroups(automationId)) while (await undoOne(id));
}

async function undoOne(id: string): Promise<boolean> {
  try {
    await installation.api.call(groupRoutes.undo, { params: { id } });
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'nothing_to_undo') return false;
    throw error;
  }
}

async function listReplays(id: string): Promise<Replay[]> {
  const query = { limit: 100 };
  return (await installation.api.call(replayRoutes.list, { params: { id }, query })).replays;
}

const replay = (id: string) =>
  installation.api.call(replayRoutes.start, { params: { id }, body: { set: 'all' } });

/**
 * Requires that each replay ends, whichever process was killed, and that a completed one has exactly one verdict per
 * screen.
 */
async function requireWholeReplays(id: string): Promise<void> {
  const untilEnded = (): Promise<Replay[]> =>
    until(
      'the end of all replays',
      () => listReplays(id),
      (replays) => replays.every(({ ended_at: endedAt }) => endedAt !== null),
      timeLimitMs,
    );
  // A user may run only a few at a time.
  await untilEnded();
  await replay(id);
  const all = await untilEnded();
  expect(all.filter(({ status }) => status === 'done').length).toBeGreaterThan(0);
  for (const { id: replayId, status, counts } of all) {
    if (status !== 'done') continue;
    const params = { id: replayId };
    const { verdicts } = await installation.api.call(replayRoutes.listVerdicts, { params, query: {} });
    expect([counts.replayed, verdicts.length]).toEqual([counts.screens, counts.screens]);
    expect(new Set(verdicts.map(({ position }) => position)).size).toBe(counts.screens);
  }
}

/** Repeats the work until the signal aborts, whether or not the server replies. */
async function again(signal: AbortSignal, work: () => Promise<unknown>, pauseMs: number): Promise<void> {
  while (!signal.aborted) {
    await work().catch(() => undefined);
    await sleep(pauseMs);
  }
}

async function recordCount(automation_id: string, status?: 'pending'): Promise<number> {
  const query = { automation_id, ...(status === undefined ? {} : { status }) };
  return (await installation.api.call(recordRoutes.list, { query })).total;
}

/** Counts records of runs whose host was killed before the tree was on its disk: they can't be grouped. */
async function treelessCount(automation_id: string): Promise<number> {
  let count = 0;
  for (let older: string | undefined; ;) {
    const query = { automation_id, partial: 'true' as const, ...(older && { before_cursor: older }) };
    const { result } = await installation.api.call(recordRoutes.list, { query });
    if (result === null) return count;
    if (result.screens.every(({ uiUrl }) => uiUrl === null)) count += 1;
    older = result.out_of_steps_id;
  }
}

test(
  'over kill -9 of server and host, while groups are marked and replayed, each record gets into one group and all counts are true',
  async () => {
    installation = await Installation.start(3, undefined, { PHALANX_RECORDS_KEPT: '100000' });
    const automationId = await makeProject();
    const inputs = Array.from({ length: rounds * recordsARound }, (_, row) => ({ row }));
    const body = { automation_id: automationId, selector: 'state=ready', inputs };
    const { job } = await installation.api.call(jobRoutes.create, { body });
    const over = new AbortController();
    const others = [
      again(over.signal, () => markAndUndo(automationId), 20),
      again(over.signal, () => replay(automationId), 300),
    ];
    for (let round = 1; round <= rounds; round += 1) {
      // On a slow machine the host would otherwise never reconnect before the next kill, and nothing would run.
      await installation.readyDevices();
      await sleep(700 + Math.random() * 600);
      if (round % 4 === 0) {
        await installation.host.end('SIGKILL');
        installation.restartHost();
      } else {
        await installation.server.end('SIGKILL');
        await installation.restartServer();
      }
    }
    const ended = async () =>
      (await installation.api.call(jobRoutes.get, { params: { id: job.id } })).job.ended_at;
    await until('the end of the job', ended, (at) => at !== null, timeLimitMs);
    over.abort();
    await Promise.all(others);
    const counts = async () => {
      const groups = await listGroups(automationId);
      const members: string[] = [];
      for (const { id } of groups) members.push(...(await membersOf(id)));
      const all = await recordCount(automationId);
      return {
        groups: groups.map(({ phones }) => phones),
        told: groups.reduce((sum, { records }) => sum + records, 0),
        members: members.length,
        once: new Set(members).size,
        all,
        shown: all - (await treelessCount(automationId)),
      };
    };
    const found = await until(
      'all records in groups',
      counts,
      ({ told, all, shown }) => told === shown && all >= inputs.length,
      timeLimitMs,
    );
    const { shown } = found;
    expect(found).toEqual({ ...found, told: shown, members: shown, once: shown });
    expect(found.groups).toHaveLength(1);
    await requireWholeReplays(automationId);
    // Marks and undos that a killed server had started were completed by another one.
    await undoAll(automationId);
    await until(
      'all records pending again',
      () => recordCount(automationId, 'pending'),
      (pending) => pending === found.all,
      timeLimitMs,
    );
  },
  2 * timeLimitMs,
);
