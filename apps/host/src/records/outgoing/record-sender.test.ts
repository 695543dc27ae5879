/** Faults that a record survives on its way: servers that disappear, refuse and hang, and the death of the host. */
import { randomUUID } from 'node:crypto';
import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RecordReport } from '@phalanx/protocol';
import { describe, expect, it } from 'vitest';
import { HostProcess } from '../../testing/host-process.ts';
import { readHostRows, writeHostRows } from '../../testing/host-rows.ts';
import { serial, useTestHost } from '../../testing/test-host.ts';
import { untilEmpty, untilFull } from '../../testing/until.ts';

const host = useTestHost();
const quick = { firstRetryMs: 20, lastRetryMs: 50 };

const storeAndSubmit = `
  const screen = await agent.actions.screenContent();
  for (const stage of ['one', 'two', 'three'])
    await agent.utils.outOfSteps.storeScreen(screen, stage, 'Home', 3, ScreenshotRecord.LOW_QUALITY);
  console.log(JSON.stringify(await agent.utils.outOfSteps.submit('outOfSteps')));`;

async function reopen(limits: Parameters<typeof host.reopen>[1]): Promise<void> {
  await host.stop();
  await host.reopen({}, { ...quick, ...limits });
}

/**
 * Counts the captures of a record. When screens are stored faster than a phone takes pictures, some have no picture.
 */
const countCaptures = ({ screens }: RecordReport) =>
  screens.length + screens.filter(({ screenshot }) => screenshot !== null).length;

/** Counts the uploads of records; the last screen of the run is uploaded too. */
const puts = () =>
  host.service.arrivals.flatMap((arrival) =>
    arrival.kind === 'capture' && arrival.path.includes('/hosts/records/') ? [arrival] : [],
  );

describe('a record on its way', () => {
  it('waits for a server that is away', async () => {
    await reopen({});
    const runId = host.launch(`console.log('begun'); await agent.actions.sleep(200); ${storeAndSubmit}`);
    await host.service.until(() => host.service.messages(runId).length > 0);
    await host.service.goAway();
    await untilFull(host.pathOf('records'));
    await host.service.listen();
    expect((await host.service.untilRecorded(runId, 'outOfSteps')).screens).toHaveLength(3);
    await untilEmpty(host.pathOf('records'));
  });

  it.each([
    ['refused with 500', () => 500],
    ['refused with 429', () => 429],
    ['cut in the middle', () => 'cut' as const],
  ])('is tried again when an upload is %s, and only what is missing is sent', async (_, trouble) => {
    await reopen({});
    const { records } = host.service;
    let answered = 0;
    records.answer = () => ((answered += 1) % 2 === 0 ? trouble() : 200);
    const runId = host.launch(storeAndSubmit);
    const count = countCaptures(await host.service.untilRecorded(runId, 'outOfSteps'));
    await untilEmpty(host.pathOf('records'));
    const taken = puts().filter(({ status }) => status === 200);
    expect(taken).toHaveLength(count);
    expect(new Set(taken.map(({ path }) => path)).size).toBe(count);
    expect(puts().length).toBeGreaterThan(count);
  });

  it('is tried again when an upload gets no answer', async () => {
    await reopen({ uploadMs: 200 });
    let answered = 0;
    host.service.records.answer = () => ((answered += 1) === 2 ? 'never' : 200);
    const record = await host.service.untilRecorded(host.launch(storeAndSubmit), 'outOfSteps');
    expect(record.screens).toHaveLength(3);
    await untilEmpty(host.pathOf('records'));
  });

  it('is told again when the server does not say that it has it', async () => {
    await reopen({ answerMs: 100 });
    host.service.acknowledgesRecords = false;
    const runId = host.launch(storeAndSubmit);
    const told = () => host.service.arrivals.filter(({ kind }) => kind === 'record').length;
    await host.service.until(() => told() > 1);
    host.service.acknowledgesRecords = true;
    expect((await host.service.untilRecorded(runId, 'outOfSteps')).screens).toHaveLength(3);
    await untilEmpty(host.pathOf('records'));
  });

  it.each([404, 400])('goes without a capture that the server refuses with %s', async (status) => {
    await reopen({});
    host.service.records.answer = (path) => (path.endsWith('/tree') ? status : 200);
    const runId = host.launch(storeAndSubmit);
    await host.service.untilEnded(runId);
    await untilEmpty(host.pathOf('records'));
    const [record] = host.service.records.of(runId);
    const pictures = record?.screens.filter(({ screenshot }) => screenshot !== null);
    expect(puts().filter((put) => put.status === 200)).toHaveLength(pictures?.length ?? 0);
    expect(pictures).not.toEqual([]);
  });

  it('is told again after a broken connection', async () => {
    await reopen({});
    host.service.records.answer = () => 'never';
    const runId = host.launch(storeAndSubmit);
    await host.service.until(() => puts().length > 0);
    host.service.records.answer = () => 200;
    host.service.cut();
    expect((await host.service.untilRecorded(runId, 'outOfSteps')).screens).toHaveLength(3);
    await untilEmpty(host.pathOf('records'));
  });

  it('makes room for newer ones when the server stays away', async () => {
    await reopen({ totalRecords: 2 });
    host.service.acknowledgesRecords = false;
    const runId = host.launch(
      `const tags = [1, 2, 3, 4]; for (const tag of tags) await agent.utils.debug('t' + tag);`,
    );
    await host.service.untilEnded(runId);
    expect(await host.filesOf('records')).toHaveLength(2);
    host.service.records.reports.clear();
    host.service.acknowledgesRecords = true;
    host.service.cut();
    await untilEmpty(host.pathOf('records'));
    const tags = host.service.records.of(runId).map(({ tag }) => tag);
    expect(new Set(tags)).toEqual(new Set(['t3', 't4']));
  });
});

describe('a host that dies', () => {
  it('by kill -9 after a submit delivers the record in its next life', async () => {
    await host.stop();
    const before = host.service.connections;
    const child = new HostProcess(host);
    try {
      await host.service.untilReady(serial, before);
      host.service.acknowledgesRecords = false;
      const runId = host.launch(`${storeAndSubmit} await agent.actions.sleep(600_000);`);
      await host.service.until(() => host.service.messages(runId).length > 0);
      await child.end('SIGKILL');
      host.service.records.reports.clear();
      host.service.acknowledgesRecords = true;
      await host.open();
      const record = await host.service.untilRecorded(runId, 'outOfSteps');
      expect(host.service.messages(runId)[0]).toBe(JSON.stringify({ success: true, id: record.record_id }));
      expect(record.screens).toHaveLength(3);
      await untilEmpty(host.pathOf('records'));
    } finally {
      await child.end('SIGKILL');
    }
  });

  it('in the middle of writing leaves a record that is told as cut short', async () => {
    host.service.acknowledgesRecords = false;
    const runId = host.launch(storeAndSubmit);
    await host.service.untilEnded(runId);
    const [name = ''] = await host.filesOf('records');
    const id = name.replace('.data', '');
    await host.stop();
    await halfWrite(id);
    host.service.records.reports.clear();
    host.service.acknowledgesRecords = true;
    await host.open();
    const record = await host.service.untilRecorded(runId, 'outOfSteps');
    expect(record).toMatchObject({ record_id: id, is_cut_short: true });
    expect(record.screens.map(({ has_tree, screenshot_failed }) => [has_tree, screenshot_failed])).toEqual([
      [true, false],
      [false, true],
      [false, true],
    ]);
    await untilEmpty(host.pathOf('records'));
  });

  it('before the first word of a record was on the disk, leaves nothing of it', async () => {
    await host.stop();
    await writeFile(join(host.pathOf('records'), `${randomUUID()}.data`), 'captures');
    writeHostRows(host.dataDir, 'record', [[randomUUID(), '{"report":']]);
    await host.reopen();
    await untilEmpty(host.pathOf('records'));
    expect(host.service.records.list()).toEqual([]);
  });
});

/** Leaves a partial record, like a host that is killed while it writes the captures of the second screen. */
async function halfWrite(id: string): Promise<void> {
  const row = readHostRows(host.dataDir, 'record').find(({ key }) => key === id);
  const index: { captures: { offset: number }[] } = JSON.parse(row?.value ?? '');
  await truncate(join(host.pathOf('records'), `${id}.data`), (index.captures[2]?.offset ?? 0) + 1);
}
