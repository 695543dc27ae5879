import { randomUUID } from 'node:crypto';
import { OutOfStepsRecord, recordRoutes, type RecordReport, type RecordType } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { timeOfUuidV7 } from '../../kernel/uuid-v7.ts';
import { createApiCaller, type ApiCaller, type ApiReply } from '../../testing/api-caller.ts';
import { EventReader } from '../../testing/event-reader.ts';
import { recordReport, screenReport, sendReport } from '../../testing/records/record-reports.ts';
import type { TestHost } from '../../testing/test-host.ts';
import { stringAt } from '../../testing/string-at.ts';
import { adminToken, startBody, TestServer } from '../../testing/test-server.ts';

const listPath = recordRoutes.list.path;
const record = Compile(OutOfStepsRecord);

const noMatch = {
  success: true,
  result: null,
  total: 0,
  currentPage: 0,
  currentCursor: null,
  hasNext: false,
  hasPrev: false,
};

let server: TestServer;
let host: TestHost;
let deviceId = '';
let runId = '';

beforeAll(async () => {
  server = await TestServer.start();
  ({ host, deviceId } = await server.connectHost());
  ({ runId } = await server.startRun(host, deviceId));
});
afterAll(async () => {
  await host.cut();
  await server.dispose();
});

const list = (query: Record<string, string> = {}, api: ApiCaller = server.api): Promise<ApiReply> =>
  api('GET', `${listPath}?${new URLSearchParams(query).toString()}`);

async function add(more: Partial<RecordReport> = {}, run = runId): Promise<string> {
  const report = recordReport(run, more);
  await sendReport(host, report);
  return report.record_id;
}

/** Starts a launch whose records no other test sees. */
const freshRun = () => server.startRun(host, deviceId);

const status = (id: string, value: unknown, api: ApiCaller = server.api) =>
  api('PATCH', `${listPath}/${id}/status`, { body: { status: value } });
const save = (id: string, value: unknown, api: ApiCaller = server.api) =>
  api('PATCH', `${listPath}/${id}/save`, { body: { saved: value } });

describe('a record that a host tells of', () => {
  it('is given back with everything that was told and known', async () => {
    const run = await freshRun();
    const calls = [
      { name: 'input.tap', x: 540, y: 1200 },
      { name: 'input.text', text_length: 4 },
    ];
    const screens = [
      screenReport({ max_steps: 7, has_tree: false, calls }),
      screenReport({ screenshot: null }),
    ];
    const app = { package: 'a.b', activity: 'a.b.Pay', version: '8.1.2', language: 'de-DE' };
    const report = recordReport(run.runId, { type: 'debug', tag: 'login', screens, app });
    expect(await sendReport(host, report)).toEqual([
      { screen_id: screens[0]?.screen_id, kind: 'screenshot' },
      { screen_id: screens[1]?.screen_id, kind: 'tree' },
    ]);
    const { status: code, body } = await list({ automation_id: run.launchId });
    expect(code).toBe(200);
    expect(record.Check(body['result'])).toBe(true);
    expect(body).toMatchObject({
      total: 1,
      currentPage: 1,
      currentCursor: report.record_id,
      hasNext: false,
      hasPrev: false,
      result: {
        device_info: { brand: 'Google', model: 'Pixel 9', device_id: deviceId, android_version: '16' },
        automation_name: 'Direct code',
        out_of_steps_id: report.record_id,
        automation_id: run.launchId,
        run_id: run.runId,
        type: 'debug',
        status: 'pending',
        added: new Date(Number.parseInt(report.record_id.replaceAll('-', '').slice(0, 12), 16)).toISOString(),
        saved: false,
        tag: 'login',
        partial: true,
        app,
        screens: [
          {
            _id: screens[0]?.screen_id,
            uiUrl: null,
            screenshot: {
              screenshotUrl: null,
              compressedWidth: 540,
              compressedHeight: 1212,
              originalWidth: 1080,
              originalHeight: 2424,
            },
            nextStage: 'checkout',
            screenState: 'unknown',
            maxSteps: 7,
            timestamp: screens[0]?.timestamp,
            actions: calls,
          },
          { screenshot: { compressedWidth: 0 }, actions: [] },
        ],
      },
    });
  });

  it('is the same record when it is told again, in any letter case', async () => {
    const run = await freshRun();
    const report = recordReport(run.runId, { screens: [screenReport()] });
    const first = await sendReport(host, report);
    expect(await sendReport(host, report)).toEqual(first);
    const shouted = { ...report, record_id: report.record_id.toUpperCase(), run_id: run.runId.toUpperCase() };
    expect(await sendReport(host, shouted)).toEqual(first);
    expect((await list({ automation_id: run.launchId })).body['total']).toBe(1);
  });

  it.each<[string, Partial<RecordReport>, boolean]>([
    ['no screens', {}, false],
    ['cut short', { is_cut_short: true }, true],
    ['a tree that failed', { screens: [screenReport({ has_tree: false, screenshot: null })] }, true],
    [
      'a screenshot that failed',
      { screens: [screenReport({ screenshot: null, screenshot_failed: true })] },
      true,
    ],
    ['captures that are still to come', { screens: [screenReport()] }, true],
  ])('with %s: partial %s', async (_name, more, partial) => {
    const run = await freshRun();
    await add(more, run.runId);
    const { body } = await list({ automation_id: run.launchId });
    expect(body).toMatchObject({ result: { partial } });
    expect((await list({ automation_id: run.launchId, partial: String(!partial) })).body).toEqual(noMatch);
  });

  it.each<[string, () => Partial<RecordReport> | Promise<Partial<RecordReport>>]>([
    ['of a run that does not exist', () => ({ run_id: randomUUID() })],
    ['whose ID is no UUIDv7', () => ({ record_id: randomUUID() })],
    ['from the future', () => ({ record_id: uuidv7({ msecs: Date.now() + 120_000 }) })],
    ['older than a week', () => ({ record_id: uuidv7({ msecs: Date.now() - 8 * 86_400_000 }) })],
    [
      'with two screens of one ID',
      () => {
        const screen = screenReport();
        return { screens: [screen, { ...screen, screen_id: screen.screen_id.toUpperCase() }] };
      },
    ],
    [
      'with the ID of another run’s record',
      async () => ({ record_id: await add({}, (await freshRun()).runId), screens: [screenReport()] }),
    ],
  ])('%s is refused, and the host may forget it', async (_name, more) => {
    const run = await freshRun();
    expect(
      await sendReport(host, recordReport(run.runId, { screens: [screenReport()], ...(await more()) })),
    ).toEqual([]);
    expect((await list({ automation_id: run.launchId })).body).toEqual(noMatch);
  });

  it('is refused from another host and from another user’s host', async () => {
    const run = await freshRun();
    const other = await server.connectHost({ serials: ['other'] });
    const stranger = await server.createCaller('stranger');
    const foreign = await server.connectHost({ serials: ['far'], token: stranger.token }, stranger.api);
    for (const one of [other.host, foreign.host]) {
      expect(await sendReport(one, recordReport(run.runId, { screens: [screenReport()] }))).toEqual([]);
      await one.cut();
    }
    expect((await list({ automation_id: run.launchId })).body).toEqual(noMatch);
  });

  it.each<[string, object]>([
    ['51 screens', { screens: Array.from({ length: 51 }, () => screenReport()) }],
    ['an unknown type', { type: 'other' }],
    ['a tag of 65 characters', { type: 'debug', tag: 'x'.repeat(65) }],
    ['an empty tag', { type: 'debug', tag: '' }],
    ['a count beyond all counts', { screens: [screenReport({ max_steps: 1e300 })] }],
    ['a negative size', { screens: [{ ...screenReport(), screenshot: { width: -1 } }] }],
  ])('with %s ends the connection', async (_name, more) => {
    const other = await server.connectHost({ serials: ['hostile'] });
    other.host.send({ type: 'record', record: { ...recordReport(runId), ...more } });
    expect(await other.host.ended()).toBe(4002);
  });
});

describe('the list', () => {
  it.each([
    'cursor=x',
    'before_cursor=1',
    'type=other',
    'status=done',
    'partial=yes',
    'run_id=x',
    'added_after=yesterday',
    'tag=',
    `tag=${'x'.repeat(65)}`,
    `cursor=${uuidv7()}&before_cursor=${uuidv7()}`,
    `before_cursor=${uuidv7()}&after_cursor=${uuidv7()}`,
    `cursor=${uuidv7()}&after_cursor=${uuidv7()}`,
  ])('refuses ?%s', async (query) => {
    const reply = await server.api('GET', `${listPath}?${query}`);
    expect([reply.status, reply.body['code']]).toEqual([400, 'invalid_request']);
  });

  it('is walked from the newest to the oldest and back, each record once, while others come and are filtered out', async () => {
    const run = await freshRun();
    const filter = { automation_id: run.launchId, status: 'pending' };
    const ids: string[] = [];
    for (let one = 0; one < 12; one += 1) ids.push(await add({}, run.runId));
    const seen: string[] = [];
    for (let query: Record<string, string> = filter; ;) {
      const { body } = await list(query);
      if (body['result'] === null) break;
      const id = stringAt(body, 'currentCursor');
      seen.push(id);
      // The record just seen is marked, so the filter excludes it. New records are added at the other end.
      if (seen.length % 3 === 0) await status(id, 'solved');
      if (seen.length === 6) await add({}, run.runId);
      query = { ...filter, before_cursor: id };
    }
    expect(seen).toEqual(ids.toReversed());
    const back: string[] = [];
    for (let cursor = seen.at(-1) ?? ''; ; cursor = back.at(-1) ?? '') {
      const { body } = await list({ automation_id: run.launchId, after_cursor: cursor });
      if (body['result'] === null) break;
      back.push(stringAt(body, 'currentCursor'));
      expect(body).toMatchObject({ total: 13, currentPage: 12 - back.length + 1, hasNext: true });
      expect(body['hasPrev']).toBe(back.length < 12);
    }
    expect(back.slice(0, 11)).toEqual(ids.slice(1));
  });

  it('finds by every filter, alone and in pairs, what a plain search finds', async () => {
    const run = await freshRun();
    const made: { id: string; type: string; status: string; partial: string; tag: string }[] = [];
    for (const type of ['outOfSteps', 'timeout', 'debug', 'crash'] satisfies RecordType[]) {
      for (const [index, state] of ['pending', 'solved', 'skipped'].entries()) {
        const tag = type === 'debug' && index > 0 ? `tag-${index}` : 'default';
        const id = await add({ type, tag, is_cut_short: index === 1 }, run.runId);
        if (state !== 'pending') await status(id, state);
        made.push({ id, type, status: state, partial: String(index === 1), tag });
      }
    }
    const values = {
      type: ['outOfSteps', 'timeout', 'debug', 'crash'],
      status: ['pending', 'solved', 'skipped'],
      partial: ['true', 'false'],
      tag: ['default', 'tag-1', 'tag-2', 'unknown'],
    };
    const single = Object.entries(values).flatMap(([key, all]) => all.map((value) => ({ [key]: value })));
    const pairs = single.flatMap((one) => single.map((other) => ({ ...one, ...other })));
    for (const filter of [...single, ...pairs]) {
      const expected = made
        .filter((one) => Object.entries(filter).every(([key, value]) => Reflect.get(one, key) === value))
        .map((one) => one.id);
      const { body } = await list({ automation_id: run.launchId, ...filter });
      expect([filter, body['total'], body['currentCursor']]).toEqual([
        filter,
        expected.length,
        expected.at(-1) ?? null,
      ]);
      if (expected.length === 0) expect(body).toEqual(noMatch);
    }
  });

  it('finds what is of one phone, one run and one span of time, with position and total', async () => {
    const run = await freshRun();
    const other = await server.connectHost({ serials: ['elsewhere'] });
    const there = await server.startRun(other.host, other.deviceId);
    const ids = [await add({}, run.runId), await add({}, run.runId)];
    const report = recordReport(there.runId);
    await sendReport(other.host, report);
    await other.host.cut();
    const first = timeOfUuidV7(ids[0] ?? '');
    const found = async (query: Record<string, string | number>) => {
      const all = Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]);
      const { body } = await list(Object.fromEntries(all));
      return [body['currentCursor'], body['currentPage'], body['total']];
    };
    expect(await found({ device_id: other.deviceId })).toEqual([report.record_id, 1, 1]);
    expect(await found({ run_id: run.runId.toUpperCase() })).toEqual([ids[1], 1, 2]);
    expect(await found({ run_id: run.runId, device_id: other.deviceId })).toEqual([null, 0, 0]);
    expect(await found({ run_id: run.runId, cursor: ids[0] ?? '' })).toEqual([ids[0], 2, 2]);
    expect(await found({ run_id: run.runId, added_after: first - 1 })).toEqual([ids[1], 1, 2]);
    expect(await found({ automation_id: run.launchId, added_before: first })).toEqual([null, 0, 0]);
    const iso = new Date(first - 1).toISOString();
    expect(await found({ automation_id: run.launchId, added_after: iso })).toEqual([ids[1], 1, 2]);
    expect(await found({ automation_id: run.launchId, added_after: Date.now() + 1000 })).toEqual([
      null,
      0,
      0,
    ]);
  });

  it('takes a cursor of any origin before and after which to look, but shows only what is visible', async () => {
    const run = await freshRun();
    const oldest = await add({}, run.runId);
    const foreign = uuidv7();
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
    const newest = await add({}, run.runId);
    const filter = { automation_id: run.launchId };
    expect((await list({ ...filter, before_cursor: foreign })).body['currentCursor']).toBe(oldest);
    expect((await list({ ...filter, after_cursor: foreign })).body['currentCursor']).toBe(newest);
    expect((await list({ ...filter, before_cursor: oldest })).body).toEqual(noMatch);
    expect((await list({ ...filter, after_cursor: newest })).body).toEqual(noMatch);
    const unknown = await list({ cursor: foreign });
    expect([unknown.status, unknown.body['code']]).toEqual([404, 'record_not_found']);
    expect((await list({ cursor: oldest.toUpperCase() })).body['currentCursor']).toBe(oldest);
    // The filter excludes this record, but it is requested by its ID.
    expect((await list({ ...filter, cursor: oldest, status: 'solved' })).body).toMatchObject({
      currentCursor: oldest,
      currentPage: 0,
      total: 0,
    });
  });

  it('tells those who follow of new and changed records', async () => {
    const run = await freshRun();
    const reader = await EventReader.open(`${server.url}/api/v2/events`, adminToken);
    const isRecord = (event: { event: string }) => event.event === 'record';
    const first = reader.waitFor(isRecord);
    const id = await add({ type: 'crash' }, run.runId);
    expect((await first).data).toMatchObject({ record: { out_of_steps_id: id, type: 'crash' } });
    const second = reader.waitFor(isRecord);
    await status(id, 'skipped');
    expect((await second).data).toMatchObject({ record: { status: 'skipped' } });
    reader.close();
    expect(await server.metrics()).toMatch(/phalanx_records_stored_total\{type="crash"\} [1-9]/);
  });
});

describe('two users who chose one launch ID', () => {
  it('see their own records only', async () => {
    const run = await freshRun();
    const mine = await add({ type: 'debug', tag: 'mine' }, run.runId);
    const other = await server.createCaller('namesake');
    const theirs = await server.connectHost({ serials: ['namesake'], token: other.token }, other.api);
    await other.api(
      'POST',
      '/api/v2/devices/launchDirectAutomation',
      startBody(theirs.deviceId, run.launchId),
    );
    const theirRun = theirs.host.messages('launch').at(-1)?.runs[0]?.run_id ?? '';
    const report = recordReport(theirRun, { type: 'debug', tag: 'theirs' });
    await sendReport(theirs.host, report);
    const filter = { automation_id: run.launchId };
    expect((await list(filter)).body).toMatchObject({ total: 1, currentCursor: mine });
    expect((await list(filter, other.api)).body).toMatchObject({ total: 1, currentCursor: report.record_id });
    expect((await list({ cursor: mine }, other.api)).status).toBe(404);
    const tagsPath = `${recordRoutes.tags.path}?automation_id=${run.launchId}`;
    expect((await other.api('GET', tagsPath)).body['tags']).toEqual(['theirs']);
    expect((await status(mine, 'solved', other.api)).status).toBe(403);
    await theirs.host.cut();
  });
});

describe('marking and saving', () => {
  it('lets exactly one of 100 simultaneous callers mark a record', async () => {
    const id = await add();
    const replies = await Promise.all(
      Array.from({ length: 100 }, (_, index) => status(id, index % 2 === 0 ? 'solved' : 'skipped')),
    );
    const winners = replies.filter((reply) => reply.status === 200);
    expect(winners).toHaveLength(1);
    for (const loser of replies.filter((reply) => reply.status !== 200)) {
      expect([loser.status, loser.body['code']]).toEqual([400, 'record_already_marked']);
      expect(loser.body['message']).toMatch(/already marked as \w+, and that cannot be changed/);
    }
    const { body } = await list({ cursor: id });
    expect(body).toMatchObject({ result: { status: winners[0]?.body['status'] } });
    expect(winners[0]?.body).toEqual({
      success: true,
      message: expect.stringContaining('was marked as'),
      status: winners[0]?.body['status'],
    });
  });

  it('saves and unsaves, whatever the status', async () => {
    const id = await add();
    await status(id, 'solved');
    for (const saved of [true, true, false, false]) {
      const reply = await save(id, saved);
      expect([reply.status, reply.body['success'], reply.body['saved']]).toEqual([200, true, saved]);
      expect((await list({ cursor: id })).body).toMatchObject({ result: { saved } });
    }
  });

  it.each(['pending', 'done', 1, null, undefined])('refuses the status %s', async (value) => {
    expect((await status(await add(), value)).status).toBe(400);
  });

  it.each(['true', 1, null, undefined])('refuses saved %s', async (value) => {
    expect((await save(await add(), value)).status).toBe(400);
  });
});

describe('a record of a project', () => {
  it('is for its owner and shared editors only, through every endpoint', async () => {
    const owner = await server.createCaller('owner');
    const editor = await server.createCaller('editor');
    const viewer = await server.createCaller('viewer');
    const stranger = await server.createCaller('outsider');
    const { body } = await owner.api('POST', '/api/v2/automation-project', { body: { name: 'Shop' } });
    const projectId = stringAt(body['project'], 'id');
    const other = stringAt(
      (await owner.api('POST', '/api/v2/automation-project', { body: { name: 'Other' } })).body['project'],
      'id',
    );
    for (const [member, role] of [
      [editor, 'shared_editor'],
      [viewer, 'shared_viewer'],
    ] as const) {
      const path = `/api/v2/automation-project/${projectId}/members/${member.userId}`;
      expect((await owner.api('PUT', path, { body: { role } })).status).toBe(200);
      const accepted = { body: { kind: 'project', id: projectId } };
      expect((await member.api('POST', '/api/v2/shares/accept', accepted)).status).toBe(200);
    }
    const code = { body: { path: 'main.js', content: 'console.log(1)' } };
    expect((await owner.api('PUT', `/api/v2/automation/file/${projectId}`, code)).status).toBe(200);
    // The editor runs it on a phone of their own; the record is the project's.
    const theirs = await server.connectHost({ serials: ['editors'], token: editor.token }, editor.api);
    const launch = await editor.api('POST', '/api/v2/devices/launchAutomation', {
      body: { device_ids: theirs.deviceIds, automationId: projectId, command: 'start' },
    });
    expect([launch.status, launch.text]).toEqual([200, launch.text]);
    const run = theirs.host.messages('launch').at(-1)?.runs[0]?.run_id ?? '';
    const report = recordReport(run, { type: 'debug', tag: 'cart' });
    await sendReport(theirs.host, report);
    const id = report.record_id;

    const limited = async (fields: Record<string, unknown>): Promise<ApiCaller> => {
      const made = await owner.api('POST', '/api/v2/tokens', { body: { name: 'limited', ...fields } });
      return createApiCaller(server.url, stringAt(made.body, 'secret'));
    };
    const toThis = await limited({ project_ids: [projectId] });
    const toOther = await limited({ project_ids: [other] });
    const readOnly = await limited({ scopes: ['read'] });
    const reviewOnly = await limited({ scopes: ['review'] });
    const nobody = createApiCaller(server.url, 'phx_nobody');

    // list: total or status · direct link · tags · save · status of an unknown record
    const expected: [string, ApiCaller, (number | string)[]][] = [
      ['owner', owner.api, [1, 200, 200, 200, 404]],
      ['editor', editor.api, [1, 200, 200, 200, 404]],
      ['viewer', viewer.api, [0, 404, 403, 403, 404]],
      ['stranger', stranger.api, [0, 404, 403, 403, 404]],
      ['administrator', server.api, [0, 404, 403, 403, 404]],
      ['token of this project', toThis, [1, 200, 200, 200, 404]],
      ['token of another project', toOther, [0, 404, 403, 403, 404]],
      ['token that may read', readOnly, [1, 200, 200, 403, 403]],
      ['token that may review', reviewOnly, ['403', 403, 403, 200, 404]],
      ['nobody', nobody, ['401', 401, 401, 401, 401]],
    ];
    for (const [name, api, outcome] of expected) {
      const filtered = await list({ automation_id: projectId.toUpperCase() }, api);
      const total = filtered.status === 200 ? filtered.body['total'] : String(filtered.status);
      const found = [
        total,
        (await list({ cursor: id }, api)).status,
        (await api('GET', `${recordRoutes.tags.path}?automation_id=${projectId}`)).status,
        (await save(id, true, api)).status,
        (await status(uuidv7(), 'solved', api)).status,
      ];
      expect([name, ...found]).toEqual([name, ...outcome]);
    }
    const tags = await editor.api('GET', `${recordRoutes.tags.path}?automation_id=${projectId}`);
    expect(tags.body).toEqual({ success: true, tags: ['cart'] });

    await owner.api('PATCH', `/api/v2/automation-project/${projectId}`, { body: { name: 'Market' } });
    expect((await list({ cursor: id }, editor.api)).body).toMatchObject({
      result: { automation_name: 'Market', automation_id: projectId },
    });
    // A former editor no longer sees anything, although the phone was theirs.
    await owner.api('DELETE', `/api/v2/automation-project/${projectId}/members/${editor.userId}`);
    expect((await list({ cursor: id }, editor.api)).status).toBe(404);
    expect((await status(id, 'solved', editor.api)).status).toBe(403);

    expect((await owner.api('DELETE', `/api/v2/automation-project/${projectId}`)).status).toBe(200);
    expect((await list({ cursor: id }, owner.api)).status).toBe(404);
    expect((await list({}, owner.api)).body).toEqual(noMatch);
    expect(await sendReport(theirs.host, recordReport(run, { screens: [screenReport()] }))).toEqual([]);
    await theirs.host.cut();
  });

  it('has tags of its own; those of unknown automations are refused', async () => {
    const run = await freshRun();
    for (const tag of ['b', 'a', null, 'b']) await add({ type: 'debug', tag }, run.runId);
    await add({ type: 'crash' }, run.runId);
    const tags = async (id: string) => server.api('GET', `${recordRoutes.tags.path}?automation_id=${id}`);
    expect((await tags(run.launchId)).body).toEqual({ success: true, tags: ['a', 'b', 'default'] });
    const none = await freshRun();
    expect((await tags(none.launchId)).body).toEqual({ success: true, tags: [] });
    expect((await tags(randomUUID())).status).toBe(403);
    expect((await server.api('GET', recordRoutes.tags.path)).status).toBe(400);
  });
});
