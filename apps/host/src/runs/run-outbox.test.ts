import { randomUUID } from 'node:crypto';
import { isEnded } from '@phalanx/protocol';
import { describe, expect, it } from 'vitest';
import { serial, useTestHost } from '../testing/test-host.ts';
import { untilJournaled, writeHostRows } from '../testing/host-rows.ts';

const host = useTestHost();
/** Shortens the wait for a server that stores no lines. */
const impatient = { timings: { endReportMs: 300 } };
const forever = "console.log('begun'); await new Promise((resolve) => setTimeout(resolve, 600_000));";

describe('a host that reports its runs', () => {
  it('executes a run: loaded, its lines, its end, in this order, and then forgets it', async () => {
    const runId = host.launch("for (let i = 1; i <= 300; i += 1) console.log('line', i);");
    const end = await host.service.untilEnded(runId);
    expect(end).toMatchObject({ status: 'completed', error: null });
    expect(host.service.messages(runId)).toEqual(
      Array.from({ length: 300 }, (_, index) => `line ${index + 1}`),
    );
    const order = host.service.arrivals.flatMap((arrival) => {
      if (arrival.kind === 'run') return [arrival.report.status];
      return arrival.kind === 'logs' ? ['logs'] : [];
    });
    expect(order[0]).toBe('starting');
    expect(order.at(-1)).toBe('completed');
    expect(host.service.reportsOf(runId)).toHaveLength(2);
    await host.stop();
    expect(host.keysOf('run')).toEqual([]);
    expect(host.keysOf('log_chunk')).toEqual([]);
  });

  it('goes on with a run while the server is away, and reports its lines and its end afterwards', async () => {
    const runId = host.launch(
      'for (let i = 1; i <= 40; i += 1) { console.log(i); await new Promise((r) => setTimeout(r, 10)); }',
    );
    await host.service.until(() => host.service.messages(runId).length > 3);
    await host.service.goAway();
    await host.service.listen();
    expect(await host.service.untilEnded(runId)).toMatchObject({ status: 'completed' });
    expect(host.service.messages(runId)).toEqual(Array.from({ length: 40 }, (_, index) => `${index + 1}`));
  });

  it('never tells the end before the last line, though the server is cut again and again', async () => {
    const runIds = Array.from({ length: 4 }, () =>
      host.launch('for (let i = 1; i <= 2000; i += 1) console.log(i);'),
    );
    let cuts = 0;
    host.service.onArrival = (arrival) => {
      if (arrival.kind !== 'logs' || cuts >= 6) return;
      cuts += 1;
      host.service.cut();
    };
    for (const runId of runIds) await host.service.untilEnded(runId);
    for (const runId of runIds) {
      const lastLines = host.service.arrivals.findLastIndex(
        (arrival) => arrival.kind === 'logs' && arrival.runId === runId,
      );
      const firstEnd = host.service.arrivals.findIndex((arrival) => {
        const reports =
          arrival.kind === 'run' ? [arrival.report] : arrival.kind === 'hello' ? arrival.runs : [];
        return reports.some(({ run_id, status }) => run_id === runId && isEnded(status));
      });
      expect(host.service.messages(runId)).toHaveLength(2000);
      expect(firstEnd).toBeGreaterThan(lastLines);
    }
  });

  it('does not tell an end in hello whose lines are not stored', async () => {
    host.service.acknowledgesLogs = false;
    const runId = host.launch("console.log('one'); console.log('two');");
    await untilJournaled(host.dataDir, runId, 'completed');
    host.service.cut();
    await host.service.untilHeartbeat(2);
    expect(host.service.reportsOf(runId).map(({ status }) => status)).not.toContain('completed');
    expect(host.service.reportsOf(runId).at(-1)).toMatchObject({ status: 'running', ended_at: null });
    await host.service.until(() => host.service.messages(runId).length === 2);
    host.service.acknowledgesLogs = true;
    host.service.acknowledgeAll();
    expect(await host.service.untilEnded(runId)).toMatchObject({ status: 'completed' });
  });

  it('tells the end after a while when the server stores no lines, and the lines when it does', async () => {
    await host.stop();
    await host.reopen({}, {}, impatient);
    host.service.acknowledgesLogs = false;
    const runId = host.launch("console.log('one');");
    expect(await host.service.untilEnded(runId)).toMatchObject({ status: 'completed', log_left: true });
    expect(host.keysOf('log_chunk')).toHaveLength(1);
    host.service.acknowledgesLogs = true;
    host.service.acknowledgeAll();
    await host.service.until(() => host.service.reportsOf(runId).at(-1)?.log_left === undefined);
    await host.stop();
    expect(host.keysOf('log_chunk')).toEqual([]);
  });

  it('repeats an end in every hello until it is stored', async () => {
    host.service.acknowledgesRuns = false;
    const runId = host.launch("console.log('one');");
    await host.service.untilEnded(runId);
    for (let connection = 2; connection <= 3; connection += 1) {
      host.service.cut();
      await host.service.untilHeartbeat(connection);
    }
    const hellos = host.service.arrivals.filter((arrival) => arrival.kind === 'hello');
    expect(hellos.map(({ runs }) => runs.map(({ status }) => status))).toEqual([
      [],
      ['completed'],
      ['completed'],
    ]);
    host.service.acknowledgesRuns = true;
    host.service.acknowledgeAll();
    await host.stop();
    expect(host.keysOf('run')).toEqual([]);
  });

  it('tells ends with large results without a frame that is too large', async () => {
    host.service.acknowledgesRuns = false;
    await host.stop();
    const runIds = Array.from({ length: 40 }, () => randomUUID());
    const journaled = {
      automation_id: '',
      serial,
      status: 'completed',
      error: null,
      result: JSON.stringify('x'.repeat(65_000)),
      started_at: 1,
      ended_at: 2,
    };
    const rows = runIds.map((run_id) => [run_id, JSON.stringify({ run_id, ...journaled })] as const);
    writeHostRows(host.dataDir, 'run', rows);
    await host.reopen();
    for (const runId of runIds) await host.service.untilEnded(runId);
    host.service.runs.clear();
    host.service.cut();
    for (const runId of runIds) {
      const end = await host.service.untilEnded(runId);
      expect(end).toMatchObject({ status: 'completed', error: null });
      expect(end.result).toHaveLength(65_002);
    }
    const hello = host.service.arrivals.findLast((arrival) => arrival.kind === 'hello');
    expect(JSON.stringify(hello).length).toBeLessThan(3 * 1024 * 1024);
  });

  it('remembers over a restart how a run ended that it could not report', async () => {
    const runId = host.launch(forever);
    await host.service.until(() => host.service.messages(runId).length > 0);
    await host.service.goAway();
    await host.stop();
    expect(host.keysOf('run')).toEqual([runId]);
    await host.service.listen();
    await host.open();
    expect(await host.service.untilEnded(runId)).toMatchObject({
      status: 'failed',
      error: { code: 'host_stopped' },
    });
    expect(host.service.messages(runId)[0]).toBe('begun');
  });

  it('reports a stop that reached it right before the server went away', async () => {
    const runId = host.launch("console.log('begun'); for (;;) {}");
    await host.service.until(() => host.service.messages(runId).length > 0);
    host.service.send({ type: 'stop', run_ids: [runId] });
    host.service.closeWith(1001);
    await host.service.goAway();
    await host.service.listen();
    expect(await host.service.untilEnded(runId)).toMatchObject({ status: 'stopped', error: null });
    expect(host.service.messages(runId)).toEqual(['begun']);
  });

  it('lets a quiet run end while another one logs without end', async () => {
    const loud = host.launch("for (let i = 1; ; i += 1) console.log('again', i);");
    await host.service.until(() => host.service.messages(loud).length > 5000);
    const quiet = host.launch("console.log('one line');");
    expect(await host.service.untilEnded(quiet)).toMatchObject({ status: 'completed' });
    expect(host.service.messages(quiet)).toEqual(['one line']);
    host.service.send({ type: 'stop', run_ids: [loud] });
    expect(await host.service.untilEnded(loud)).toMatchObject({ status: 'stopped' });
    const messages = host.service.messages(loud);
    expect(messages).toEqual(messages.map((_, index) => `again ${index + 1}`));
  });

  it('stops a run that waits for a server which stores nothing', async () => {
    await host.stop();
    await host.reopen({}, {}, impatient);
    host.service.acknowledgesLogs = false;
    const loud = host.launch("const line = 'x'.repeat(10_000); for (;;) console.log(line);");
    // The loud run fills its buffer meanwhile.
    await host.service.untilEnded(host.launch("console.log('one');"));
    host.service.send({ type: 'stop', run_ids: [loud] });
    expect(await host.service.untilEnded(loud)).toMatchObject({ status: 'stopped' });
  });

  it('ends a run whose journal can not be read as failed', async () => {
    await host.stop();
    const runId = randomUUID();
    writeHostRows(host.dataDir, 'run', [[runId, '{"run_id":']]);
    await host.reopen();
    expect(await host.service.untilEnded(runId)).toMatchObject({
      status: 'failed',
      error: { code: 'host_restarted' },
      started_at: null,
    });
  });
});
