import type { WebhookEvent, webhookEvents } from '@phalanx/protocol';
import { expect, it } from 'vitest';

import type { StoredDelivery } from '../delivery-store.ts';
import type { StoredWebhook } from '../store.ts';
import type { Names } from '../names.ts';
import { writeMail } from './mail-text.ts';

const at = Date.UTC(2026, 10, 25, 12, 0, 3);
const phone = { device_id: 'd1', serial: 'S1', model: 'Pixel 9', host_id: 'h1', host_name: 'rack' };
const group = { group_id: 'g1', automation_id: 'a1', automation_name: 'Signs up', record_id: 'r1' };
const run = {
  run_id: 'run-1',
  automation_id: 'a1',
  launch: 'l1',
  launch_id: null,
  name: 'Signs up',
  device_id: 'd1',
  status: 'failed' as const,
  outcome: 'failed' as const,
  created_at: at,
  started_at: at,
  ended_at: at,
  error: { code: 'uncaught_error' as const, message: 'no such person' },
};

const dataOf: { [Name in keyof typeof webhookEvents]: Extract<WebhookEvent, { type: Name }>['data'] } = {
  'run.ended': run,
  'device.not_ready': { ...phone, state: 'offline', reason: 'The cable is out', since: at },
  'device.back': { ...phone, not_ready_since: at },
  'record.new': {
    record_id: 'r1',
    automation_id: 'a1',
    automation_name: 'Signs up',
    run_id: 'run-1',
    device_id: 'd1',
    type: 'outOfSteps',
    tag: 'login',
  },
  'group.opened': group,
  'group.reopened': { ...group, assignee_id: null, solved_in: null },
  'drift.found': {
    automation_id: 'a1',
    automation_name: 'Signs up',
    package: 'com.shop',
    version: '8.1.2',
    version_before: '8.1.1',
    reason: 'failing' as const,
    group_id: null,
    runs: 9,
    bad_runs: 7,
    runs_before: 200,
    bad_runs_before: 12,
  },
  'replay.finished': {
    replay_id: 'p1',
    automation_id: 'a1',
    automation_name: 'Signs up',
    commit: '4f372a3b8c',
    cause: 'commit' as const,
    status: 'done' as const,
    problem: '',
    screens: 12,
    known: 9,
    recognised: 2,
    broken: 1,
    not_told: 0,
  },
  'schedule.skipped': {
    schedule_id: 's1',
    schedule_name: 'nightly',
    automation_id: 'a1',
    planned_at: at,
    reason: 'The previous job has not ended.',
  },
  'host.gone': { host_id: 'h1', host_name: 'rack', since: at },
  'host.back': { host_id: 'h1', host_name: 'rack', gone_since: at },
  'runs.failing': { hours: 24, ended: 10, failed: 8 },
  'runs.none': { hours: 24, last_run_id: null, last_at: at },
  'webhook.test': { webhook_id: 'w1' },
};

const names: Names = {
  device: (id) => Promise.resolve(`Pixel 9 (${id})`),
  user: () => 'Ada',
  consoleUrl: 'https://phones.example',
  publicUrl: undefined,
};
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only these columns are read
const webhook = { id: 'w1', name: 'Alarms', user_id: 'u1' } as StoredWebhook;
const deliveryOf = (type: StoredDelivery['type'], data: object): StoredDelivery =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only these columns are read
  ({ id: crypto.randomUUID(), type, at, data: JSON.stringify(data), created_at: at }) as StoredDelivery;

it.each([
  ['run.ended', 'A run of “Signs up” failed on Pixel 9 (d1)', 'Reason: no such person', '/runs/run-1'],
  [
    'device.not_ready',
    'The phone Pixel 9 (S1) has not been ready since 2026-11-25 12:00:03 UTC',
    'Reason: The cable is out',
    '/devices/d1',
  ],
  ['device.back', 'The phone Pixel 9 (S1) is ready again', 'Host: rack', '/devices/d1'],
  ['record.new', 'There is a new record of “Signs up”', 'Kind: outOfSteps, login', '/runs/run-1'],
  ['group.opened', 'A record of “Signs up” has started a new group', 'Group: g1', '/groups'],
  ['group.reopened', 'A record of “Signs up” has reopened a solved group', 'Record: r1', '/groups'],
  [
    'drift.found',
    'The code of “Signs up” handles com.shop 8.1.2 worse than the previous version',
    'Runs without success: 7 of 9',
    '/projects/a1/versions',
  ],
  [
    'replay.finished',
    '9 of 12 saved screens of “Signs up” are known in 4f372a3b',
    'No longer known: 1',
    '/projects/a1',
  ],
  [
    'schedule.skipped',
    'The schedule “nightly” created no job',
    'Reason: The previous job has not ended.',
    '/jobs',
  ],
  ['host.gone', 'The host “rack” has been away since 2026-11-25 12:00:03 UTC', '', '/devices'],
  ['host.back', 'The host “rack” has connected again', 'Away since: 2026-11-25', '/devices'],
  ['runs.failing', '8 of your 10 runs of the last 24 hours did not succeed', '', '/runs'],
  ['runs.none', 'You have launched nothing for 24 hours', 'Last launch: 2026-11-25', '/runs'],
  ['webhook.test', 'This is a test', '', '/webhooks'],
] as const)('%s is told so that a person understands it', async (type, headline, row, path) => {
  const { subject, text } = await writeMail(webhook, [deliveryOf(type, dataOf[type])], names);
  expect(subject).toBe(`[Phalanx] ${headline}`);
  expect(text.startsWith(`${headline}.\n`)).toBe(true);
  expect(text).toContain(row);
  expect(text).toContain(`\nhttps://phones.example${path}\n`);
  expect(text).toContain('Ada asked for this e-mail, under the name “Alarms”.');
});

it('what others have written has one line, whatever signs are in it', async () => {
  const evil = 'a\r\nBcc: eve@evil.example\u2028b\u0000c\u202Ed\n\nhttps://phones.example/free-phones';
  const data = { ...run, name: evil, error: { code: 'uncaught_error', message: evil.repeat(20) } };
  const { subject, text } = await writeMail(
    { ...webhook, name: evil },
    [deliveryOf('run.ended', data)],
    names,
  );
  expect(subject).not.toMatch(/[\r\n\u2028\0\u202E]/);
  expect(subject.length).toBeLessThan(200);
  expect(text).not.toMatch(/[\r\u2028\0\u202E]/);
  const lines = text.split('\n');
  expect(lines.filter((line) => /^(Bcc|https:\/\/phones\.example\/free)/.test(line))).toEqual([]);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(600);
});

it('the ID is that of the deliveries, so that a repeated e-mail is known and another one is not', async () => {
  const [one, other] = [deliveryOf('webhook.test', dataOf['webhook.test']), deliveryOf('run.ended', run)];
  const idOf = async (...all: StoredDelivery[]): Promise<string> => (await writeMail(webhook, all, names)).id;
  expect(await idOf(one)).toBe(await idOf(one));
  expect(new Set([await idOf(one), await idOf(other), await idOf(one, other)]).size).toBe(3);
});
