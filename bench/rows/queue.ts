/**
 * `queue`: 10,000 launches of three users wait for 100 phones, which are all busy with runs of two seconds. Figure:
 * the idle time of a phone, from the message that its run has ended until the message that its next one begins, which
 * is stored by then. Compared with a loop that only claims rows: one transaction of the same rows, synced to the disk
 * before it counts. The users own a half, three tenths and a fifth of the launches; each should begin as many runs as
 * the others. The notes contain the same with three jobs with tables instead of 10,000 jobs, and with runs that end
 * at once.
 *
 * `queue-idle`: the server's processor time while 100,000 tasks wait for an absent phone and 100 phones are free,
 * compared with the same before they waited.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Type } from 'typebox';

import type { BenchProcess } from '../harness/bench-process.ts';
import { percentile } from '../harness/percentile.ts';
import { median } from '../harness/rounds.ts';
import type { Row, RowResult } from '../harness/row.ts';
import { onStage, type Stage } from '../harness/stage.ts';
import { launchOnEach, listDeviceIds } from '../http/api.ts';
import { sendAll, type ServerWithUsers, startServerWithUsers } from './server-with-users.ts';

const fleet = { hosts: 20, devicesPerHost: 5 };
/** Numbers of waiting tasks per user. */
const waiting = [5000, 3000, 2000] as const;
const runMs = 2000;
const warmUpMs = 6000;
const measuredMs = 20_000;
const atOnceMs = 5000;

const Seen = Type.Object({
  waitsMs: Type.Array(Type.Number()),
  begunOf: Type.Record(Type.String(), Type.Integer()),
  elapsedMs: Type.Number(),
});
const rowsOf = (count: number): object[] => Array.from({ length: count }, (_, row) => ({ row }));

interface Measured {
  waitsMs: number[];
  unfairPercent: number;
  makeMs: number;
  atOnce: number;
}

async function makeJobs({ users }: ServerWithUsers, isTable: boolean, part: number): Promise<void> {
  await Promise.all(
    users.map((user, no) => {
      const count = Math.ceil(part * (waiting[no] ?? 0));
      const body = { automation_id: user.projectId, selector: 'sdk>=1' };
      const one = ['POST', 'jobs', isTable ? { ...body, inputs: rowsOf(count) } : body] as const;
      return sendAll(
        user,
        Array.from({ length: isTable ? 1 : count }, () => one),
      );
    }),
  );
}

async function measureQueue(stage: Stage, isTable: boolean): Promise<Measured> {
  const all = await startServerWithUsers(stage, waiting.length, fleet);
  const { api, phones } = all;
  await launchOnEach(api, await listDeviceIds(api));
  const begunAt = performance.now();
  await makeJobs(all, isTable, stage.options.part);
  const makeMs = performance.now() - begunAt;
  await phones.call('work', { runMs }, Type.Unknown());
  await sleep(warmUpMs);
  await phones.call('read', {}, Seen);
  await sleep(measuredMs);
  const { waitsMs, begunOf } = await phones.call('read', {}, Seen);
  const begun = Object.values(begunOf);
  await phones.call('work', { runMs: 0 }, Type.Unknown());
  await sleep(runMs);
  await phones.call('read', {}, Seen);
  await sleep(atOnceMs);
  const fast = await phones.call('read', {}, Seen);
  return {
    waitsMs,
    makeMs,
    unfairPercent: 100 * (Math.max(...begun) / Math.min(...begun) - 1),
    atOnce: (1000 * fast.waitsMs.length) / fast.elapsedMs,
  };
}

const note = (what: string, { waitsMs, unfairPercent, makeMs, atOnce }: Measured): string =>
  `${what}: median ${median(waitsMs).toFixed(1)} ms, 99th percentile ${percentile(waitsMs, 0.99).toFixed(0)} ms of ${waitsMs.length}; ` +
  `the user with the most runs has ${unfairPercent.toFixed(1)} % more than the one with the fewest; ` +
  `made in ${(makeMs / 1000).toFixed(1)} s; runs that end at once: ${atOnce.toFixed(0)} a second`;

export const queue: Row = {
  name: 'queue',
  title: '10,000 launches wait for 100 phones: how long a phone is free between two runs, median',
  against: 'a loop that only claims rows, median',
  async measure(stage: Stage): Promise<RowResult> {
    const loop = await stage.start('claim-loop');
    await loop.call('open', { folder: await stage.folder(), tasks: 10_000 }, Type.Unknown());
    const claims = await loop.call('claim', { count: 2000 }, Type.Array(Type.Number()));
    const tables = await onStage(undefined, stage.options, (inner) => measureQueue(inner, true));
    const single = await measureQueue(stage, false);
    return {
      figure: median(single.waitsMs),
      baseline: median(claims),
      unit: 'ms',
      targets: [{ of: 'figure', bound: 'at most', value: 50 }],
      notes: [
        note('10,000 jobs of one launch', single),
        note('three jobs with tables of 10,000 rows', tables),
        `the loop: ${(1000 / median(claims)).toFixed(0)} claims a second`,
      ],
    };
  },
};

/** Returns the processor time per second, in ms. */
async function usedBy(server: BenchProcess): Promise<number> {
  const [before, begunAt] = [await server.cpuMs(), performance.now()];
  await sleep(measuredMs);
  return (1000 * ((await server.cpuMs()) - before)) / (performance.now() - begunAt);
}

async function measureIdle(
  stage: Stage,
  jobs: number,
  rows: number,
): Promise<[before: number, after: number]> {
  const { users, server } = await startServerWithUsers(stage, 1, fleet);
  const [user] = users;
  if (user === undefined) throw new Error('there is no user');
  await sleep(warmUpMs);
  const before = await usedBy(server);
  const body = { automation_id: user.projectId, selector: 'serial=nowhere', inputs: rowsOf(rows) };
  await sendAll(
    user,
    Array.from({ length: jobs }, () => ['POST', 'jobs', body]),
  );
  await sleep(warmUpMs);
  return [before, await usedBy(server)];
}

export const queueIdle: Row = {
  name: 'queue-idle',
  title: 'processor time of the server while 100,000 tasks wait for a phone that is not there',
  against: 'the same server while nothing waits',
  async measure(stage: Stage): Promise<RowResult> {
    const { part } = stage.options;
    const [jobBefore, jobAfter] = await onStage(undefined, stage.options, (inner) =>
      measureIdle(inner, Math.ceil(10_000 * part), 1),
    );
    const [baseline, figure] = await measureIdle(stage, 10, Math.ceil(10_000 * part));
    return {
      figure,
      baseline,
      unit: 'ms a second',
      targets: [{ of: 'ratio', bound: 'at most', value: 1.1 }],
      notes: [
        `10,000 jobs of one task: ${jobAfter.toFixed(2)} ms a second against ${jobBefore.toFixed(2)} while nothing waits`,
      ],
    };
  },
};
