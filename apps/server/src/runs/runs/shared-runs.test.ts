import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { SharedPhone, type Caller } from '../../fleet/devices/testing/shared-phone.ts';
import { EventReader } from '../../testing/event-reader.ts';
import { recordReport, sendReport } from '../../testing/records/record-reports.ts';
import { stringAt } from '../../testing/string-at.ts';

let phone: SharedPhone;
beforeAll(async () => {
  phone = await SharedPhone.start();
});
afterAll(() => phone.dispose());
beforeEach(() => phone.reset());

const statusOf = async (caller: Caller, runId: string): Promise<string> => {
  const { body } = await phone.readRun(caller, runId);
  return stringAt(body['run'], 'status');
};

describe('direct code on the phone of somebody else', () => {
  it('is its launcher’s: others see only that and by whom the phone is busy', async () => {
    const launchId = crypto.randomUUID();
    const runId = await phone.runDirect('launch', launchId);
    await phone.host.log(runId, ['secret']);
    expect(await phone.visibleRuns('launch')).toContain(runId);
    expect(await phone.readMessages('launch', launchId)).toEqual(['secret']);
    for (const caller of ['owner', 'view', 'launch by the host'] as const) {
      expect(await phone.visibleRuns(caller)).not.toContain(runId);
      expect((await phone.readRun(caller, runId)).status).toBe(404);
      expect((await phone.api(caller)('GET', `/api/v2/runs/${runId}/code`)).status).toBe(404);
      expect(await phone.readMessages(caller, launchId)).toEqual([]);
      expect((await phone.read(caller)).body['device']).toMatchObject({
        state: 'busy',
        running: [{ run_id: runId, automation_id: null, user: { id: phone.idOf('launch'), name: 'launch' } }],
      });
    }
  });

  it('is driven by the owner’s host: its end and its records count, after a reconnection and a restart too', async () => {
    const runId = await phone.runDirect('launch');
    await phone.host.cut();
    await phone.server.restart();
    phone.host.url = phone.server.url;
    await phone.host.connect();
    expect(await statusOf('launch', runId)).toBe('running');
    const report = recordReport(runId);
    expect(await sendReport(phone.host, report)).toEqual([]);
    const { body } = await phone.api('launch')('GET', '/api/v2/automation-project/out-of-steps');
    expect(body['result']).toMatchObject({ out_of_steps_id: report.record_id });
    await phone.host.end(runId, 'completed');
    expect(await statusOf('launch', runId)).toBe('completed');
    expect(await phone.visibleRuns('owner')).not.toContain(runId);
  });
});

describe('a shared project on a shared phone', () => {
  it('is seen with its logs by all who have a part in both', async () => {
    const runId = await phone.runProject('launch');
    await phone.host.log(runId, ['for all']);
    for (const caller of ['owner', 'launch', 'view', 'launch by the host'] as const) {
      expect(await phone.visibleRuns(caller), caller).toContain(runId);
      expect((await phone.readRun(caller, runId)).status).toBe(200);
      expect(await phone.readMessages(caller, phone.project.id)).toContain('for all');
    }
    expect(await phone.visibleRuns('stranger')).toEqual([]);
    await phone.deleteEditor('view');
    expect(await phone.visibleRuns('view')).not.toContain(runId);
    expect((await phone.readRun('view', runId)).status).toBe(404);
    expect(await phone.readMessages('view', phone.project.id)).toEqual([]);
    await phone.putEditor('view');
  });
});

describe('a stop', () => {
  it('of everything ends what the caller may stop, and leaves the rest running', async () => {
    const ownRun = await phone.runDirect('owner');
    const foreignRun = await phone.runDirect('launch by the host');
    const projectRun = await phone.runProject('owner');
    expect((await phone.stopAll('launch')).body['message']).toBe('Stopped 1 automation.');
    expect(phone.host.messages('stop').at(-1)?.run_ids).toEqual([projectRun]);
    expect((await phone.stopAll('owner')).body['message']).toBe('Stopped 2 automations.');
    expect(phone.host.messages('stop').at(-1)?.run_ids.toSorted()).toEqual([ownRun, foreignRun].toSorted());
  });

  it.each([
    ['direct code', (): Promise<string> => phone.runDirect('launch'), [200, 200, 404, 404, 404, 404]],
    ['a project', (): Promise<string> => phone.runProject('launch'), [200, 200, 400, 200, 404, 200]],
  ] as const)(
    'of one run of %s is for its launcher, its editors and the owner',
    async (_what, run, statuses) => {
      const order = ['owner', 'launch', 'view', 'launch by the host', 'stranger', 'limited token'] as const;
      for (const [index, caller] of order.entries()) {
        const runId = await run();
        const { status, text } = await phone.api(caller)('POST', `/api/v2/runs/${runId}/stop`);
        expect(status, `${caller}: ${text}`).toBe(statuses[index]);
        await phone.stopAll('owner');
      }
    },
  );

  it('of a run that the caller only sees is forbidden', async () => {
    const runId = await phone.runProject('owner');
    const path = `/api/v2/automation-project/${phone.project.id}/members/${phone.idOf('launch')}`;
    await phone.api('owner')('PUT', path, { body: { role: 'shared_viewer' } });
    const { status } = await phone.api('launch')('POST', `/api/v2/runs/${runId}/stop`);
    expect([status, await statusOf('launch', runId)]).toEqual([403, 'running']);
    await phone.putEditor('launch');
  });
});

describe('the events of a shared phone', () => {
  const runOf = (data: unknown): unknown => (data as { run?: { run_id: string } }).run?.run_id;

  it('reach its members as they may see them, and end with the share at once', async () => {
    const readers = new Map<Caller, EventReader>();
    for (const caller of ['owner', 'launch', 'view', 'stranger'] as const)
      readers.set(caller, await EventReader.open(`${phone.server.url}/api/v2/events`, phone.tokenOf(caller)));
    const seenBy = (caller: Caller, runId: string): boolean =>
      (readers.get(caller)?.received ?? []).some(({ data }) => runOf(data) === runId);
    const direct = await phone.runDirect('launch');
    const shared = await phone.runProject('launch');
    const members = ['owner', 'launch', 'view'] as const;
    for (const caller of members) await expect.poll(() => seenBy(caller, shared)).toBe(true);
    expect(members.map((caller) => seenBy(caller, direct))).toEqual([false, true, false]);
    expect(readers.get('view')?.received.some(({ event }) => event === 'device')).toBe(true);

    await phone.unshare(`devices/${phone.deviceId}`, 'view');
    const before = readers.get('view')?.received.length;
    await phone.launchProject('launch', 'stop');
    const later = await phone.runProject('launch');
    await expect.poll(() => seenBy('owner', later)).toBe(true);
    expect(readers.get('view')?.received).toHaveLength(before ?? -1);
    expect(readers.get('stranger')?.received).toEqual([]);
    for (const reader of readers.values()) reader.close();
  });
});

describe('a share that has ended', () => {
  it('leaves what runs to its end, and lets nothing new begin', async () => {
    const runId = await phone.runDirect('launch');
    await phone.unshare(`devices/${phone.deviceId}`, 'launch');
    expect((await phone.launchDirect('launch')).body).toMatchObject({ code: 'devices_unavailable' });
    expect((await phone.read('launch')).status).toBe(404);
    await phone.host.end(runId, 'completed');
    expect(await statusOf('launch', runId)).toBe('completed');
  });
});
