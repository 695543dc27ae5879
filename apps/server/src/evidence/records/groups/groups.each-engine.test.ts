import {
  groupRoutes,
  GroupRecord,
  RecordGroup,
  type RecordReport,
  recordRoutes,
  type ScreenTree,
} from '@phalanx/protocol';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { ApiCaller, ApiReply } from '../../../testing/api-caller.ts';
import { EventReader } from '../../../testing/event-reader.ts';
import { labelledScreens } from '../../../testing/records/labelled-screens.ts';
import { recordReport, screenReport, sendReport } from '../../../testing/records/record-reports.ts';
import { stringAt } from '../../../testing/string-at.ts';
import type { TestHost } from '../../../testing/test-host.ts';
import { adminToken, TestServer } from '../../../testing/test-server.ts';

const listPath = groupRoutes.list.path;
const groupCheck = Compile(RecordGroup);
const recordsCheck = Compile(Type.Array(GroupRecord));
const serials = ['serial-1', 'serial-2', 'serial-3'];

let server: TestServer;
let host: TestHost;
let deviceIds: string[];

beforeAll(async () => {
  server = await TestServer.start({ sweepMs: 50 });
  ({ host, deviceIds } = await server.connectHost({ serials }));
});
afterAll(async () => {
  await host.cut();
  await server.dispose();
});

const screens = labelledScreens({ hasIds: true, languages: ['en'], versions: [1], seed: 7 });
/** Returns variants of one screen of an app: other phone sizes, other data. */
const showsOf = (number: number): ScreenTree[] =>
  screens.filter(({ label }) => label === `screen ${number}`).map(({ tree }) => tree);
const shown = (number: number, show = 0): ScreenTree => {
  const tree = showsOf(number)[show];
  if (tree === undefined) throw new Error('there is no such screen');
  return tree;
};

const putTree = (recordId: string, screenId: string, raw: string): Promise<ApiReply> =>
  server.api(
    'PUT',
    recordRoutes.putCapture.path
      .replace(':record_id', recordId)
      .replace(':screen_id', screenId)
      .replace(':kind', 'tree'),
    { raw, contentType: 'application/json' },
  );

/** Makes a record whose last screen shows this tree. */
async function meet(
  runId: string,
  tree: ScreenTree | string,
  more: Partial<RecordReport> = {},
): Promise<string> {
  const screen = screenReport({ screenshot: null });
  const report = recordReport(runId, { screens: [screen], ...more });
  await sendReport(host, report);
  const raw = typeof tree === 'string' ? tree : JSON.stringify(tree);
  expect((await putTree(report.record_id, screen.screen_id, raw)).status).toBe(200);
  return report.record_id;
}

const placeOf = async (recordId: string, api: ApiCaller = server.api): Promise<ApiReply> =>
  api('GET', groupRoutes.ofRecord.path.replace(':id', recordId));

/** Resolves with the group of a record as soon as it has one. */
async function groupOf(recordId: string): Promise<string> {
  await expect
    .poll(async () => (await placeOf(recordId)).body, { timeout: 20_000 })
    .toMatchObject({ group_id: expect.any(String) });
  return stringAt((await placeOf(recordId)).body, 'group_id');
}

async function getGroup(id: string): Promise<RecordGroup> {
  const { body, text } = await server.api('GET', `${listPath}/${id}`);
  if (!groupCheck.Check(body['group'])) throw new Error(text);
  return body['group'];
}

async function recordsOf(id: string): Promise<GroupRecord[]> {
  const { body, text } = await server.api('GET', `${listPath}/${id}/records`);
  if (!recordsCheck.Check(body['records'])) throw new Error(text);
  return body['records'];
}

const post = (id: string, what: string, body?: object): Promise<ApiReply> =>
  server.api('POST', `${listPath}/${id}/${what}`, body === undefined ? {} : { body: { ...body } });
const patch = (id: string, body: object): Promise<ApiReply> =>
  server.api('PATCH', `${listPath}/${id}`, { body: { ...body } });

/** Starts a launch whose groups no other test sees. */
const freshRun = async (device = 0) => server.startRun(host, deviceIds[device] ?? '');

/** Creates a project with one commit. */
async function freshProject() {
  const automationId = await server.createProject();
  const commit = async (content: string): Promise<string> => {
    const file = { path: 'main.ts', content };
    await server.api('PUT', `/api/v2/automation/file/${automationId}`, { body: file });
    const message = { message: content };
    const { body } = await server.api('POST', `/api/v2/automation/commit/${automationId}`, { body: message });
    return stringAt(body['commit'], 'hash');
  };
  const launch = async (device: number): Promise<string> => {
    const body = { device_ids: [deviceIds[device]], automationId, command: 'start' };
    const { status, text } = await server.api('POST', '/api/v2/devices/launchAutomation', { body });
    if (status !== 200) throw new Error(text);
    const launches = host.messages('launch').filter((one) => one.automation_id === automationId);
    return launches.at(-1)?.runs[0]?.run_id ?? '';
  };
  await commit('console.log(1);');
  return { automationId, commit, launch };
}

const statusesOf = async (id: string): Promise<string[]> => (await recordsOf(id)).map(({ status }) => status);

describe('a group', () => {
  it('tells of which versions of the app and in which languages its records are', async () => {
    const { runId } = await freshRun();
    const of = (version: string | null, language: string | null) => ({
      app: { package: 'com.example.shop', activity: null, version, language },
    });
    const ids: string[] = [];
    for (const [version, language] of [
      ['8.1.2', 'de-DE'],
      ['8.1.2', 'de-AT'],
      ['8.1.1', 'de'],
      [null, null],
    ] as const)
      ids.push(await meet(runId, shown(4), of(version, language)));
    const group = await groupOf(ids[0] ?? '');
    for (const id of ids) expect(await groupOf(id)).toBe(group);
    const { body } = await server.api('GET', `${listPath}/${group}`);
    expect(body['app_versions']).toEqual([
      { version: '8.1.2', records: 2 },
      { version: '8.1.1', records: 1 },
      { version: null, records: 1 },
    ]);
    expect(body['languages']).toEqual([
      { language: 'de', records: 3 },
      { language: null, records: 1 },
    ]);
    expect((await recordsOf(group)).map(({ app }) => app?.version)).toEqual([
      null,
      '8.1.1',
      '8.1.2',
      '8.1.2',
    ]);
  });
});

describe('crashes', () => {
  const errorOf = (message: string, place: string, name = 'WaitTimeoutError') => ({
    code: 'uncaught_error',
    message: `${name}: ${message}\nSeen:\n  after 0.1 s: com.example`,
    stack: `${name}: ${message}\n    at ${place}`,
  });
  const late = 'Waited 3.0 s for "Pay", but it did not come. The screen was read 12 times.';
  const later =
    'Waited 3.4 s for "Pay", but it did not come. The screen was read 9 times, 2 times in vain (busy).';

  it('are a group by their error and its place, whatever the screen and the numbers, and not with records of the screen', async () => {
    const { runId } = await freshRun();
    const crash = (tree: ScreenTree, error: NonNullable<RecordReport['error']>) =>
      meet(runId, tree, { type: 'crash', error });
    const first = await crash(shown(8), errorOf(late, 'pay (flows/pay.ts:12:5)'));
    const group = await groupOf(first);
    // The line and the screen have changed, the error is the same.
    const second = await crash(shown(9), errorOf(later, 'pay (flows/pay.ts:14:7)'));
    expect(await groupOf(second)).toBe(group);
    const others = [
      await crash(shown(8), errorOf(late.replace('Pay', 'Buy'), 'pay (flows/pay.ts:12:5)')),
      await crash(shown(8), errorOf(late, 'pay (flows/buy.ts:12:5)')),
      await crash(shown(8), errorOf(late, 'pay (flows/pay.ts:12:5)', 'TypeError')),
      await meet(runId, shown(8)),
    ];
    const groups = await Promise.all(others.map(groupOf));
    expect(new Set([group, ...groups]).size).toBe(5);
    expect(await getGroup(group)).toMatchObject({
      records: 2,
      title: 'Waited 3.0 s for "Pay", but it did not come.',
      error: { name: 'WaitTimeoutError', message: later, place: 'flows/pay.ts:14' },
    });
    expect((await recordsOf(group)).map(({ reason }) => reason.by)).toEqual(['error', 'new']);
    expect((await getGroup(groups[3] ?? '')).error).toBe(null);
  });

  it('have no sign of their screen proposed and none kept for replays, and can be split and merged', async () => {
    const { runId } = await freshRun();
    const crash = (error: NonNullable<RecordReport['error']>) =>
      meet(runId, shown(8), { type: 'crash', error });
    const one = errorOf(late, 'main.ts:20:5');
    const [first, second] = [await crash(one), await crash(one)];
    const group = await groupOf(first);
    expect(await groupOf(second)).toBe(group);
    expect((await server.api('GET', `${listPath}/${group}`)).body['kept_screens']).toEqual([]);
    const { body } = await post(group, 'propose', {});
    expect(body).toMatchObject({
      candidates: [],
      problem: expect.stringContaining('Check the code at main.ts:20: WaitTimeoutError: Waited 3.0 s'),
    });
    // Later crashes with this error stay with the old group.
    expect((await post(group, 'split', { record_ids: [second] })).status).toBe(201);
    const split = await groupOf(second);
    expect(split).not.toBe(group);
    expect(await groupOf(await crash(one))).toBe(group);
    // Screens that join the group are compared with later screens; its crashes are not.
    const unknown = await groupOf(await meet(runId, shown(8)));
    expect((await post(unknown, 'merge', { group_ids: [group, split] })).status).toBe(200);
    expect(await groupOf(await crash(one))).toBe(unknown);
    expect(await groupOf(await meet(runId, shown(8, 1)))).toBe(unknown);
    expect((await server.api('GET', `${listPath}/${unknown}`)).body['kept_screens']).not.toEqual([]);
  });
});

/** Returns the same screen with other words. */
const worded = (tree: ScreenTree, word: string): ScreenTree =>
  JSON.parse(JSON.stringify(tree).replace(/"text":"[^"]+/, `$& ${word}`));

it('a group keeps eight of its screens, in as many languages and versions of the app as it has met', async () => {
  const { runId } = await freshRun();
  const of = (version: string, language: string) => ({
    app: { package: 'com.example.shop', activity: null, version, language },
  });
  const kept = async (id: string) => (await server.api('GET', `${listPath}/${id}`)).body['kept_screens'];
  const words = ['apple', 'bread', 'cheese', 'dates', 'eggs', 'figs', 'grapes', 'honey'];
  const ids: string[] = [];
  const show = async (word: string, more: Partial<RecordReport>): Promise<string> => {
    ids.push(await meet(runId, worded(shown(5), word), more));
    return groupOf(ids.at(-1) ?? '');
  };
  let group = '';
  for (const word of words) group = await show(word, of('1', 'en'));
  const first = await kept(group);
  expect(first).toHaveLength(8);
  for (const [word, version, language] of [
    ['ice', '2', 'en'],
    ['jam', '1', 'de'],
  ] as const)
    expect(await show(word, of(version, language))).toBe(group);
  const then = await kept(group);
  expect(then).toHaveLength(8);
  expect(new Set([...(first as string[]), ...(then as string[])]).size).toBe(10);
  // Two of the first screens were dropped; a screen with a version or language of its own stays.
  expect(await show('kale', of('1', 'en'))).toBe(group);
  const last = (await kept(group)) as string[];
  expect(last).toEqual(
    expect.arrayContaining((then as string[]).filter((one) => !(first as string[]).includes(one))),
  );
  expect(last).toHaveLength(8);
});

describe('records whose last screens show the same', () => {
  it('are one group, of the phones that have met it, and say why they belong to it', async () => {
    const { launchId, runId } = await freshRun();
    const ids: string[] = [];
    const groups: string[] = [];
    for (const tree of [shown(1), shown(1), shown(1, 4)]) {
      ids.push(await meet(runId, tree));
      groups.push(await groupOf(ids.at(-1) ?? ''));
    }
    expect(new Set(groups).size).toBe(1);
    const group = await getGroup(groups[0] ?? '');
    expect(group).toMatchObject({
      automation_id: launchId,
      status: 'open',
      records: 3,
      phones: 1,
      assignee: null,
      next_stage: 'checkout',
      screen_state: 'unknown',
      package_name: 'com.example.shop',
    });
    expect(group.sample?.record_id).toBe(ids[2]);
    const reasons = (await recordsOf(group.id)).map(({ reason }) => reason.by);
    expect(reasons.toReversed().slice(0, 2)).toEqual(['new', 'key']);
    expect(['likeness', 'key']).toContain(reasons[0]);
  });

  it('and others are groups of their own, in the order in which they were seen', async () => {
    const { launchId, runId } = await freshRun();
    const first = await groupOf(await meet(runId, shown(1)));
    const second = await groupOf(await meet(runId, shown(2)));
    await groupOf(await meet(runId, shown(1)));
    const { body } = await server.api('GET', `${listPath}?automation_id=${launchId}&limit=1`);
    expect(body['groups']).toMatchObject([{ id: first }]);
    const next = `${listPath}?automation_id=${launchId}&limit=1&cursor=${stringAt(body, 'next_cursor')}`;
    expect((await server.api('GET', next)).body).toMatchObject({
      groups: [{ id: second }],
      next_cursor: null,
    });
    const most = await server.api('GET', `${listPath}?automation_id=${launchId}&sort=records&limit=1`);
    expect(most.body['groups']).toMatchObject([{ id: first, records: 2 }]);
  });

  it('of several phones are shown with the newest one of each', async () => {
    const { automationId, launch } = await freshProject();
    for (const device of deviceIds.keys()) {
      const runId = await launch(device);
      await groupOf(await meet(runId, shown(3)));
      await groupOf(await meet(runId, shown(3)));
    }
    const { body } = await server.api('GET', `${listPath}?automation_id=${automationId}`);
    expect(body['groups']).toMatchObject([{ records: 6, phones: 3 }]);
    const id = stringAt(Array.isArray(body['groups']) ? body['groups'][0] : undefined, 'id');
    const detail = (await server.api('GET', `${listPath}/${id}`)).body;
    expect(detail['screens']).toHaveLength(3);
  });
});

describe('a record has no group', () => {
  it.each([
    ['no tree of an app', '{"root":{}}', /no readable tree/],
    ['a tree that is too deep', `${'{"root":'.repeat(1900)}1${'}'.repeat(1900)}`, /no readable tree/],
  ])('whose screen has %s, and costs no other one', async (_name, tree, problem) => {
    const { runId } = await freshRun();
    const broken = await meet(runId, tree);
    const whole = await meet(runId, shown(4));
    expect(await groupOf(whole)).not.toBe('');
    await expect.poll(async () => (await placeOf(broken)).body['problem']).toMatch(problem);
    expect((await placeOf(broken)).body['group_id']).toBeNull();
  });

  it('as long as its tree has not come, and when it is for debugging', async () => {
    const { runId } = await freshRun();
    const waiting = recordReport(runId, { screens: [screenReport()] });
    await sendReport(host, waiting);
    expect((await placeOf(waiting.record_id)).body['problem']).toMatch(/not been read yet/);
    const debug = recordReport(runId, { type: 'debug', tag: 'x', screens: [screenReport()] });
    await sendReport(host, debug);
    expect((await placeOf(debug.record_id)).body['problem']).toMatch(/Debug/);
  });
});

describe('somebody who marks a group', () => {
  it('marks its pending records, and undoes it', async () => {
    const { runId } = await freshRun();
    const ids = [await meet(runId, shown(5)), await meet(runId, shown(5)), await meet(runId, shown(5))];
    const [skipped = ''] = ids;
    const id = await groupOf(ids[2] ?? '');
    for (const one of ids) await groupOf(one);
    const one = `${recordRoutes.list.path}/${skipped}/status`;
    await server.api('PATCH', one, { body: { status: 'skipped' } });
    const { body } = await patch(id, { status: 'solved' });
    expect(body['group']).toMatchObject({ status: 'solved', records: 3 });
    expect(await statusesOf(id)).toEqual(['solved', 'solved', 'skipped']);
    expect((await post(id, 'undo')).body['group']).toMatchObject({ status: 'open', solved_at: null });
    expect(await statusesOf(id)).toEqual(['pending', 'pending', 'skipped']);
    expect((await post(id, 'undo')).body['code']).toBe('nothing_to_undo');
    await patch(id, { status: 'ignored', mark_records: false });
    expect(await statusesOf(id)).toEqual(['pending', 'pending', 'skipped']);
  });

  it('tells those who follow, and assigns it to a reviewer alone', async () => {
    const { runId } = await freshRun();
    const id = await groupOf(await meet(runId, shown(6)));
    const stranger = await server.createCaller('stranger');
    expect((await patch(id, { assignee_id: stranger.userId })).status).toBe(400);
    const events = await EventReader.open(`${server.url}/api/v2/events?types=group`, adminToken);
    const told = events.waitFor(({ event }) => event === 'group');
    const { body } = await server.api('GET', '/api/v2/me');
    const me = stringAt(body['user'] ?? body, 'id');
    await patch(id, { assignee_id: me });
    expect((await told).data).toMatchObject({ group: { id, assignee: { id: me } } });
    events.close();
  });

  it('of whom the automation is not sees nothing of it', async () => {
    const { runId } = await freshRun();
    const record = await meet(runId, shown(7));
    const id = await groupOf(record);
    const { api } = await server.createCaller('nobody');
    expect((await api('GET', listPath)).body['groups']).toEqual([]);
    const replies = [
      await api('GET', `${listPath}/${id}`),
      await api('GET', `${listPath}/${id}/records`),
      await api('PATCH', `${listPath}/${id}`, { body: { status: 'solved' } }),
      await api('POST', `${listPath}/${id}/undo`),
      await api('POST', `${listPath}/${id}/split`, { body: { record_ids: [record] } }),
      await api('POST', `${listPath}/${id}/merge`, { body: { group_ids: [id] } }),
      await placeOf(record, api),
    ];
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 404));
  });
});

describe('a solved group', () => {
  it('opens with the first record of a run that began later, and keeps records of older runs', async () => {
    const { launch } = await freshProject();
    const old = await launch(0);
    const id = await groupOf(await meet(old, shown(8)));
    await patch(id, { status: 'solved' });
    const late = await meet(old, shown(8));
    await groupOf(late);
    expect(await getGroup(id)).toMatchObject({ status: 'solved', records: 2 });
    expect(await recordsOf(id)).toMatchObject([
      { record_id: late, outdated: true, status: 'pending' },
      { outdated: false },
    ]);
    const back = await meet(await launch(1), shown(8));
    await groupOf(back);
    expect(await getGroup(id)).toMatchObject({ status: 'open', reopened_by: back });
    // The `solved` mark can still be undone; a mark on top of it is undone first.
    expect(await statusesOf(id)).toEqual(['pending', 'pending', 'solved']);
    await patch(id, { status: 'ignored' });
    expect((await post(id, 'undo')).body['group']).toMatchObject({ status: 'open', reopened_by: back });
    expect((await post(id, 'undo')).body['group']).toMatchObject({ status: 'open', reopened_by: null });
    expect(await statusesOf(id)).toEqual(['pending', 'pending', 'pending']);
  });

  it('in a commit opens with a record of a run that contains it, and not with one of an older commit', async () => {
    const { automationId, commit, launch } = await freshProject();
    const old = await launch(0);
    const fix = await commit('console.log(2);');
    const id = await groupOf(await meet(old, shown(9)));
    expect((await patch(id, { status: 'solved', solved_in: 'abcdef0' })).body['code']).toBe(
      'commit_not_found',
    );
    expect((await patch(id, { status: 'solved', solved_in: fix.slice(0, 9) })).body['group']).toMatchObject({
      solved_in: fix,
    });
    const late = await meet(old, shown(9));
    await groupOf(late);
    expect(await getGroup(id)).toMatchObject({ status: 'solved' });
    expect((await recordsOf(id))[0]).toMatchObject({ record_id: late, outdated: true });
    await commit('console.log(3);');
    const back = await meet(await launch(1), shown(9));
    await groupOf(back);
    expect(await getGroup(id)).toMatchObject({ status: 'open', reopened_by: back, solved_in: fix });
    await server.api('DELETE', `/api/v2/automation-project/${automationId}`);
    expect((await server.api('GET', `${listPath}/${id}`)).status).toBe(404);
  });
});

describe('merging and splitting', () => {
  it('two groups teaches, lasts, and is undone', async () => {
    const { runId } = await freshRun();
    const one = await groupOf(await meet(runId, shown(10)));
    const other = await groupOf(await meet(runId, shown(11)));
    expect(one).not.toBe(other);
    const { body } = await post(one, 'merge', { group_ids: [other] });
    expect(body['group']).toMatchObject({ id: one, records: 2 });
    expect(await groupOf(await meet(runId, shown(11)))).toBe(one);
    expect((await getGroup(other)).id).toBe(one);
    expect((await post(one, 'undo')).body['group']).toMatchObject({ id: one, records: 2 });
    expect(await getGroup(other)).toMatchObject({ id: other, records: 1 });
    expect(await groupOf(await meet(runId, shown(11)))).toBe(other);
  });

  it('a group sends later records of the same screen to the new one, and is undone', async () => {
    const { runId } = await freshRun();
    const first = await meet(runId, shown(12));
    const id = await groupOf(first);
    const foreign = await groupOf(await meet(runId, shown(13)));
    await post(id, 'merge', { group_ids: [foreign] });
    const [newest] = await recordsOf(id);
    const { status, body } = await post(id, 'split', { record_ids: [newest?.record_id] });
    expect([status, body['group']]).toMatchObject([201, { status: 'open', records: 1 }]);
    const part = stringAt(body['group'], 'id');
    expect(await groupOf(await meet(runId, shown(13)))).toBe(part);
    expect(await groupOf(await meet(runId, shown(12)))).toBe(id);
    expect((await post(part, 'undo')).body['group']).toMatchObject({ id, records: 4 });
    expect((await getGroup(part)).id).toBe(id);
    expect(
      (await post(id, 'split', { record_ids: (await recordsOf(id)).map((one) => one.record_id) })).status,
    ).toBe(400);
  });
});

describe('at the same time', () => {
  /** Counts the records of only one launch, so that every count can be compared with its records. */
  async function listCounts(launchId: string): Promise<{ told: number; there: number }> {
    const { body } = await server.api('GET', `${listPath}?automation_id=${launchId}`);
    const groups = Array.isArray(body['groups']) ? body['groups'].filter((one) => groupCheck.Check(one)) : [];
    let there = 0;
    for (const { id } of groups) there += (await recordsOf(id)).length;
    return { told: groups.reduce((sum, group) => sum + group.records, 0), there };
  }

  it('forty records of one screen come to all servers, and are one group', async () => {
    const { runId, launchId } = await freshRun();
    const ids = await Promise.all(Array.from({ length: 40 }, () => meet(runId, shown(14))));
    const groups = await Promise.all(ids.map((id) => groupOf(id)));
    expect(new Set(groups).size).toBe(1);
    expect(await listCounts(launchId)).toEqual({ told: 40, there: 40 });
  }, 60_000);

  it('records come while their groups are merged, split, marked and undone', async () => {
    const { runId, launchId } = await freshRun();
    const one = await groupOf(await meet(runId, shown(15)));
    const other = await groupOf(await meet(runId, shown(16)));
    const coming = Promise.all(
      Array.from({ length: 30 }, (_, at) => meet(runId, shown(at % 2 === 0 ? 15 : 16))),
    );
    for (let round = 0; round < 8; round += 1) {
      await post(one, 'merge', { group_ids: [other] });
      await patch(one, { status: 'solved' });
      await post(one, 'undo');
      await post(one, 'undo');
    }
    const ids = await coming;
    for (const id of ids) await groupOf(id);
    expect(await listCounts(launchId)).toEqual({ told: 32, there: 32 });
  }, 60_000);
});
