/**
 * 1,000 schedules have their turns in the same minute, on 100 phones whose runs end at once. Figure: the longest
 * latency of a user's read, from that minute until all jobs have ended; compared with the longest one in quiet.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Type } from 'typebox';

import type { Row, RowResult } from '../harness/row.ts';
import type { Stage } from '../harness/stage.ts';
import { ask, type Api } from '../http/api.ts';
import { longestDuring } from './longest-during.ts';
import { sendAll, startServerWithUsers } from './server-with-users.ts';

const fleet = { hosts: 20, devicesPerHost: 5 };
const scheduleCount = 1000;
const quietMs = 5000;
const maxWaitMs = 120_000;

const Jobs = Type.Object({ jobs: Type.Array(Type.Object({ id: Type.String() })) });
const Begun = Type.Object({ begunOf: Type.Record(Type.String(), Type.Integer()) });

/** Returns the start of the first minute that is at least this far away. */
const minuteAfter = (ms: number): number => Math.ceil((Date.now() + ms) / 60_000) * 60_000;

async function untilNoneIsOpen(api: Api, begunAt: number): Promise<void> {
  while (Date.now() - begunAt < maxWaitMs) {
    await sleep(500);
    const { jobs } = await ask(api, '/api/v2/jobs?open=true&limit=1', Jobs);
    if (jobs.length === 0) return;
  }
  throw new Error('the jobs of the schedules have not ended');
}

export const schedules: Row = {
  name: 'schedules',
  title: 'the longest that a user waits for a read while 1,000 schedules have their turns at the same minute',
  against: 'the longest in quiet',
  async measure(stage: Stage): Promise<RowResult> {
    const { api, server, phones, users } = await startServerWithUsers(stage, 1, fleet);
    const [user] = users;
    if (user === undefined) throw new Error('there is no user');
    await phones.call('work', { runMs: 0 }, Type.Unknown());
    const watch = await stage.start('watch');
    const quiet = await longestDuring(watch, api, () => sleep(quietMs));
    const at = minuteAfter(60_000);
    const cron = `${new Date(at).getUTCMinutes()} * * * *`;
    const body = { automation_id: user.projectId, selector: 'sdk>=1', cron, time_zone: 'UTC' };
    await sendAll(
      user,
      Array.from({ length: Math.ceil(scheduleCount * stage.options.part) }, () => [
        'POST',
        'schedules',
        body,
      ]),
    );
    if (Date.now() > at) throw new Error('the schedules were made too slowly');
    await sleep(at - Date.now() - 500);
    await server.call('watchStretch', {}, Type.Unknown());
    const figure = await longestDuring(watch, api, async () => {
      await sleep(2000);
      await untilNoneIsOpen(user.api, at);
    });
    const tookS = (Date.now() - at) / 1000;
    const stretchMs = await server.call('readStretch', {}, Type.Number());
    const { begunOf } = await phones.call('read', {}, Begun);
    return {
      figure,
      baseline: quiet,
      unit: 'ms',
      targets: [{ of: 'figure', bound: 'at most', value: 250 }],
      notes: [
        `${begunOf[user.projectId] ?? 0} runs of the schedules had ended after ${tookS.toFixed(1)} s`,
        `longest turn of the event loop: ${stretchMs.toFixed(0)} ms of processor time`,
      ],
    };
  },
};
