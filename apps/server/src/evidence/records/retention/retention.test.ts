import { recordRoutes, type RecordReport } from '@phalanx/protocol';
import { v7 as uuidv7 } from 'uuid';
import { afterEach, describe, expect, it } from 'vitest';

import { recordReport, sendReport } from '../../../testing/records/record-reports.ts';
import type { TestHost } from '../../../testing/test-host.ts';
import { stringAt } from '../../../testing/string-at.ts';
import { TestServer } from '../../../testing/test-server.ts';

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

const listPath = recordRoutes.list.path;

async function startAll(settings: Record<string, string> = {}) {
  const server = await TestServer.start({ settings });
  cleanUps.push(() => server.dispose());
  const { host, deviceId } = await server.connectHost();
  cleanUps.push(() => host.cut());
  return { server, host, deviceId, ...(await server.startRun(host, deviceId)) };
}

/** Reports `count` records at once, oldest first. */
async function addMany(host: TestHost, count: number, report: () => RecordReport): Promise<string[]> {
  const reports = Array.from({ length: count }, report);
  await Promise.all(reports.map((one) => sendReport(host, one)));
  return reports.map((one) => one.record_id);
}

const totalOf = async (server: TestServer, query: Record<string, string>): Promise<unknown> =>
  (await server.api('GET', `${listPath}?${new URLSearchParams(query).toString()}`)).body['total'];

const exists = async (server: TestServer, id: string): Promise<boolean> =>
  (await server.api('GET', `${listPath}?cursor=${id}`)).status === 200;

const save = async (server: TestServer, id: string, saved: boolean): Promise<void> => {
  const { status } = await server.api('PATCH', `${listPath}/${id}/save`, { body: { saved } });
  expect(status).toBe(200);
};

describe('debug records', () => {
  it('are kept up to 200 a tag and automation; the 201st costs the oldest of its own tag', async () => {
    const { server, host, runId, deviceId } = await startAll();
    const other = await server.startRun(host, deviceId);
    const debug =
      (tag: string | null, run = runId) =>
      () =>
        recordReport(run, { type: 'debug', tag });
    const a = await addMany(host, 200, debug('a'));
    const b = await addMany(host, 3, debug('b'));
    const none = await addMany(host, 2, debug(null));
    const elsewhere = await addMany(host, 1, debug('a', other.runId));
    const crash = await addMany(host, 1, () => recordReport(runId, { type: 'crash' }));
    expect(await totalOf(server, { tag: 'a' })).toBe(201);
    const [newest] = await addMany(host, 1, debug('a'));
    expect(await exists(server, a[0] ?? '')).toBe(false);
    for (const id of [a[1], newest, b[0], none[0], elsewhere[0], crash[0]])
      expect(await exists(server, id ?? '')).toBe(true);
    expect(await totalOf(server, { tag: 'a', type: 'debug' })).toBe(201);
    // Debug records without a tag and all other types are `default`.
    expect(await totalOf(server, { tag: 'default' })).toBe(3);
  });

  it('that come at once from several hosts are counted truly', async () => {
    const { server, host, runId, launchId } = await startAll();
    const others = await Promise.all(
      ['x', 'y'].map(async (serial) => {
        const one = await server.connectHost({ serials: [serial] });
        cleanUps.push(() => one.host.cut());
        return one;
      }),
    );
    const debug = () => recordReport(runId, { type: 'debug', tag: 'a' });
    const run = await Promise.all(others.map((one) => server.startRun(one.host, one.deviceId)));
    await Promise.all([
      addMany(host, 230, debug),
      ...others.map((one, at) =>
        addMany(one.host, 60, () => recordReport(run[at]?.runId ?? '', { type: 'debug', tag: 'a' })),
      ),
    ]);
    expect(await totalOf(server, { automation_id: launchId })).toBe(200);
    expect(await totalOf(server, {})).toBe(320);
  });
});

describe('records of the other types', () => {
  it('are kept up to the setting, all types together', async () => {
    const { server, host, runId } = await startAll({ PHALANX_RECORDS_KEPT: '5' });
    const ids: string[] = [];
    for (const type of ['crash', 'timeout', 'outOfSteps'] as const)
      ids.push(...(await addMany(host, 3, () => recordReport(runId, { type }))));
    await addMany(host, 7, () => recordReport(runId, { type: 'debug', tag: 'a' }));
    expect(await totalOf(server, {})).toBe(12);
    for (const [at, id] of ids.entries()) expect([at, await exists(server, id)]).toEqual([at, at >= 4]);
  });

  it('that come late, older than all that are kept, are refused room', async () => {
    const { server, host, runId } = await startAll({ PHALANX_RECORDS_KEPT: '2' });
    const kept = await addMany(host, 2, () => recordReport(runId));
    const late = recordReport(runId, { record_id: uuidv7({ msecs: Date.now() - 3_600_000 }) });
    expect(await sendReport(host, late)).toEqual([]);
    expect(await exists(server, late.record_id)).toBe(false);
    for (const id of kept) expect(await exists(server, id)).toBe(true);
  });
});

describe('a saved record', () => {
  it('counts, is not deleted, and goes at once when it is unsaved beyond the limit', async () => {
    const { server, host, runId } = await startAll({ PHALANX_RECORDS_KEPT: '3' });
    const report = () => recordReport(runId);
    const [first = '', second = '', third = ''] = await addMany(host, 3, report);
    await save(server, first, true);
    await save(server, third, true);
    await addMany(host, 1, report);
    // The three newest are kept, and the first is protected.
    expect(await totalOf(server, {})).toBe(4);
    await addMany(host, 1, report);
    expect(await exists(server, second)).toBe(false);
    expect(await exists(server, third)).toBe(true);
    expect(await totalOf(server, {})).toBe(4);
    await save(server, first, false);
    expect(await exists(server, first)).toBe(false);
    // An unsaved record within the limit stays.
    await save(server, third, false);
    expect(await exists(server, third)).toBe(true);
  });

  it('is protected until two months after its creation, to the second', async () => {
    const { server, host, runId } = await startAll({ PHALANX_RECORDS_KEPT: '1' });
    const report = () => recordReport(runId, { record_id: uuidv7({ msecs: server.clock.now() }) });
    const [saved = ''] = await addMany(host, 1, report);
    await save(server, saved, true);
    const { body } = await server.api('GET', `${listPath}?cursor=${saved}`);
    const added = new Date(stringAt(body['result'], 'added'));
    const end = new Date(added);
    end.setUTCMonth(end.getUTCMonth() + 2);
    server.clock.advance(end.getTime() - 1000 - server.clock.now());
    // Its run ended long ago, but is still known.
    await addMany(host, 1, report);
    expect(await exists(server, saved)).toBe(true);
    server.clock.advance(end.getTime() + 1000 - server.clock.now());
    await addMany(host, 1, report);
    expect(await exists(server, saved)).toBe(false);
    expect(await totalOf(server, {})).toBe(1);
  });

  it('that has lost its protection goes with the next start, without any new record', async () => {
    const { server, host, runId } = await startAll({ PHALANX_RECORDS_KEPT: '1' });
    const [saved = ''] = await addMany(host, 1, () => recordReport(runId));
    await save(server, saved, true);
    await addMany(host, 1, () => recordReport(runId));
    server.clock.advance(63 * 86_400_000);
    await host.cut();
    await server.restart();
    await expect.poll(() => exists(server, saved)).toBe(false);
    expect(await totalOf(server, {})).toBe(1);
  });
});
