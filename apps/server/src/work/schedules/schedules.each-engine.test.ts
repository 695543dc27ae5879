import { Schedule, ScheduleTurn } from '@phalanx/protocol';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { TestProject } from '../../code/projects/testing/test-projects.ts';
import type { ApiCaller } from '../../testing/api-caller.ts';
import type { TestHost } from '../../testing/test-host.ts';
import { TestServer } from '../../testing/test-server.ts';
import { minuteMs } from '@phalanx/timing/durations';

const schedules = Compile(Schedule);
const turnLists = Compile(Type.Array(ScheduleTurn));
const timeouts = { timeout: 60_000, interval: 100 };

let server: TestServer;
let host: TestHost;
let project: TestProject;

beforeAll(async () => {
  server = await TestServer.start({ ackTimeoutMs: 10_000, sweepMs: 100 });
  ({ host } = await server.connectHost({ serials: ['a', 'b'] }));
  project = await TestProject.create(server.api);
  await project.put('main.ts', 'console.log(1);');
});
afterAll(async () => {
  await host.cut();
  await server.dispose();
});

async function create(more: object, api: ApiCaller = server.api): Promise<Schedule> {
  const times = { cron: '* * * * *', time_zone: 'Europe/Berlin' };
  const body = { automation_id: project.id, selector: 'model~pixel', ...times, ...more };
  const reply = await api('POST', '/api/v2/schedules', { body });
  if (!schedules.Check(reply.body['schedule'])) throw new Error(reply.text);
  return reply.body['schedule'];
}
/** Lists the turns, the oldest first. */
async function turnsOf(id: string): Promise<ScheduleTurn[]> {
  const { body, text } = await server.api('GET', `/api/v2/schedules/${id}/turns`);
  if (!turnLists.Check(body['turns'])) throw new Error(text);
  return body['turns'].toReversed();
}
const remove = (id: string) => server.api('DELETE', `/api/v2/schedules/${id}`);

it('a schedule says its next five times, and makes one job at each, whichever servers look', async () => {
  host.launchHabit = 'ends_at_once';
  const schedule = await create({ name: 'each minute', overlap: 'allow' });
  const [first = 0, second = 0] = schedule.next;
  expect(schedule.next).toEqual([0, 1, 2, 3, 4].map((at) => first + at * minuteMs));
  server.clock.advance(first - server.clock.now() + 1);
  await expect.poll(() => turnsOf(schedule.id), timeouts).toMatchObject([{ planned_at: first, reason: '' }]);
  server.clock.advance(second - server.clock.now() + 1);
  await expect.poll(async () => (await turnsOf(schedule.id)).length, timeouts).toBe(2);
  const jobs = async () => (await server.api('GET', '/api/v2/jobs')).body['jobs'];
  const completed = { status: 'completed', tasks: { completed: 1, waiting: 0 } };
  await expect.poll(jobs, timeouts).toMatchObject([completed, completed]);
  await remove(schedule.id);
});

it('a turn whose job before has not ended is skipped with the reason, or queued once', async () => {
  host.launchHabit = 'ack';
  // The older of two schedules that are due at the same time takes its turn first. The list of turns does not show
  // this for a queued job.
  const [queueing, skipping] = [
    await create({ selector: 'serial=b', overlap: 'queue' }),
    await create({ selector: 'serial=a' }),
  ];
  for (let turn = 0; turn < 3; turn += 1) {
    server.clock.advance(minuteMs);
    await expect.poll(async () => (await turnsOf(skipping.id)).length, timeouts).toBe(turn + 1);
  }
  expect(await turnsOf(skipping.id)).toMatchObject([
    { reason: '' },
    { job_id: null, reason: 'The previous job has not ended.' },
    { job_id: null, reason: 'The previous job has not ended.' },
  ]);
  await expect.poll(async () => (await turnsOf(queueing.id)).length, timeouts).toBe(2);
  const [made] = await turnsOf(queueing.id);
  await server.api('POST', `/api/v2/jobs/${made?.job_id}/cancel`);
  await expect
    .poll(async () => (await turnsOf(queueing.id)).filter(({ job_id }) => job_id !== null), timeouts)
    .toHaveLength(2);
  for (const { id } of [skipping, queueing]) await remove(id);
});

it('after a stop of a day the turns that were missed are one row with their number', async () => {
  host.launchHabit = 'ends_at_once';
  const [none, last] = [
    await create({ cron: '0 3 * * *', time_zone: 'UTC' }),
    await create({ cron: '0 3 * * *', time_zone: 'UTC', missed: 'last' }),
  ];
  const at = none.next[2] ?? 0;
  server.clock.advance(at - server.clock.now() + 30 * minuteMs);
  await expect
    .poll(() => turnsOf(none.id), timeouts)
    .toMatchObject([
      { job_id: null, reason: '3 turns from this one on were missed: the service stood still.' },
    ]);
  await expect
    .poll(() => turnsOf(last.id), timeouts)
    .toMatchObject([
      { job_id: null, reason: expect.stringContaining('2 turns') },
      { planned_at: at, reason: '' },
    ]);
  for (const { id } of [none, last]) await remove(id);
});

it('a pause makes nothing, and what passed meanwhile is not made up for', async () => {
  const schedule = await create({ paused: true });
  expect(schedule.next).toEqual([]);
  server.clock.advance(5 * minuteMs);
  const { body } = await server.api('PATCH', `/api/v2/schedules/${schedule.id}`, { body: { paused: false } });
  expect(body['schedule']).toMatchObject({ paused: false });
  expect(await turnsOf(schedule.id)).toEqual([]);
  await remove(schedule.id);
});

it('a schedule ends with the rights of whoever made it', async () => {
  const ada = await server.createCaller('ada');
  const share = { body: { role: 'shared_editor' } };
  await server.api('PUT', `/api/v2/automation-project/${project.id}/members/${ada.userId}`, share);
  const schedule = await create({}, ada.api);
  await server.api('DELETE', `/api/v2/automation-project/${project.id}/members/${ada.userId}`);
  server.clock.advance(minuteMs);
  await expect
    .poll(() => turnsOf(schedule.id), timeouts)
    .toMatchObject([{ job_id: null, reason: expect.stringContaining('was not found') }]);
  const { body } = await server.api('GET', `/api/v2/schedules/${schedule.id}`);
  expect(body['schedule']).toMatchObject({ paused: true, problem: expect.stringContaining('was not found') });
});

it('a schedule whose pool is gone is paused and renamed, and goes on only with phones', async () => {
  await server.api('PUT', '/api/v2/pools/night', { body: { selector: 'serial=a' } });
  const { id } = await create({ selector: 'pool=night' });
  await server.api('DELETE', '/api/v2/pools/night');
  const change = async (body: object): Promise<unknown> =>
    (await server.api('PATCH', `/api/v2/schedules/${id}`, { body })).body;
  expect(await change({ paused: true, name: 'later' })).toMatchObject({
    schedule: { paused: true, name: 'later' },
  });
  expect(await change({ paused: false })).toMatchObject({ code: 'invalid_selector' });
  expect(await change({ count: 2 })).toMatchObject({ code: 'invalid_selector' });
  expect(await change({ paused: false, selector: 'serial=a' })).toMatchObject({
    schedule: { paused: false, work: { selector: 'serial=a' } },
  });
  await remove(id);
});

it('what is no time is refused, and changes nothing', async () => {
  const schedule = await create({ paused: true });
  for (const bad of [{ cron: '61 * * * *' }, { cron: '* * * * * *' }, { time_zone: 'Europe/Nowhere' }]) {
    const reply = await server.api('PATCH', `/api/v2/schedules/${schedule.id}`, { body: bad });
    expect(reply.body, reply.text).toMatchObject({ code: 'invalid_cron' });
  }
  const { body } = await server.api('GET', `/api/v2/schedules/${schedule.id}`);
  expect(body['schedule']).toEqual(schedule);
});

it('whoever runs a schedule by hand makes its job as themselves, beside its times and its pause', async () => {
  host.launchHabit = 'ack';
  const ada = await server.createCaller('ada-runs');
  const work = { parameters: { greeting: 'Hello' }, count: 1, paused: true };
  const schedule = await create({ ...work, name: 'by hand' });
  const run = (api: ApiCaller) => api('POST', `/api/v2/schedules/${schedule.id}/run`);
  expect((await run(ada.api)).body).toMatchObject({ code: 'schedule_not_found' });
  const [first, second] = [await run(server.api), await run(server.api)];
  for (const { status, body } of [first, second]) {
    expect(status).toBe(201);
    expect(body['job']).toMatchObject({ schedule_id: schedule.id, selector: 'model~pixel', count: 1 });
  }
  const turns = await turnsOf(schedule.id);
  const reason = expect.stringMatching(/^Run by hand by .+\.$/);
  expect(turns).toMatchObject([
    { job_id: expect.any(String), reason },
    { job_id: expect.any(String), reason },
  ]);
  expect(new Set(turns.map(({ job_id }) => job_id)).size).toBe(2);
  await server.api('PUT', `/api/v2/automation-project/${project.id}/members/${ada.userId}`, {
    body: { role: 'shared_editor' },
  });
  await ada.api('POST', `/api/v2/shares/${project.id}/accept`);
  const hers = await run(ada.api);
  expect(hers.body['job'], hers.text).toMatchObject({ user: { id: ada.userId } });
  for (const { job_id } of await turnsOf(schedule.id))
    await server.api('POST', `/api/v2/jobs/${job_id}/cancel`);
  await remove(schedule.id);
});

it('a turn finds a job that was made by hand as the job before', async () => {
  host.launchHabit = 'ack';
  const schedule = await create({ selector: 'serial=none' });
  await server.api('POST', `/api/v2/schedules/${schedule.id}/run`);
  server.clock.advance(minuteMs);
  await expect
    .poll(() => turnsOf(schedule.id), timeouts)
    .toMatchObject([
      { job_id: expect.any(String) },
      { job_id: null, reason: 'The previous job has not ended.' },
    ]);
  const [byHand] = await turnsOf(schedule.id);
  await server.api('POST', `/api/v2/jobs/${byHand?.job_id}/cancel`);
  await remove(schedule.id);
});

it('the next times of a cron expression are told before a schedule is made', async () => {
  const times = async (cron: string, zone = 'Europe%2FBerlin') =>
    (await server.api('GET', `/api/v2/schedules/times?cron=${encodeURIComponent(cron)}&time_zone=${zone}`))
      .body;
  const schedule = await create({ cron: '0 2 * * *', paused: false });
  expect(await times('0 2 * * *')).toMatchObject({ times: schedule.next });
  expect(await times('0 2 * *')).toMatchObject({ code: 'invalid_cron' });
  expect(await times('0 2 * * *', 'Nowhere')).toMatchObject({
    message: expect.stringContaining('there is no time zone "Nowhere"'),
  });
  await remove(schedule.id);
});
