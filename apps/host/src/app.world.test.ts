import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type SimulatedPhone, startSimulatedPhone } from '@phalanx/simulated-phone';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { HostProcess } from './testing/host-process.ts';
import { launchOf } from './testing/launch-of.ts';
import { startTestService, type TestService } from './testing/test-service.ts';
import { readHostRows, untilJournaled } from './testing/host-rows.ts';
import { until } from './testing/until.ts';

const serial = 'simulated-1';

let phone: SimulatedPhone;
let service: TestService;
let dataDir: string;
let processes: HostProcess[] = [];

beforeAll(async () => {
  phone = await startSimulatedPhone({ serial });
});

afterAll(async () => {
  await phone.stop();
});

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'phalanx-host-'));
  service = await startTestService();
});

afterEach(async () => {
  await Promise.all(processes.map((host) => host.end('SIGKILL')));
  processes = [];
  await service.close();
  await rm(dataDir, { recursive: true });
  expect(service.violations).toEqual([]);
});

function spawnHost(settings: Record<string, string> = {}): HostProcess {
  const host = new HostProcess({ service, dataDir, phone, settings });
  processes.push(host);
  return host;
}

function launch(code: string, count = 1): string[] {
  const runs = Array.from({ length: count }, () => ({ run_id: randomUUID(), device_id: 'device-1', serial }));
  service.send(launchOf(code, runs));
  return runs.map(({ run_id }) => run_id);
}

async function isZone(zone: string): Promise<void> {
  await until(`the zone ${zone}`, () => phone.android.properties.get('persist.sys.timezone') === zone);
}

const countForEver =
  'for (let i = 1; ; i += 1) { console.log(i); await new Promise((r) => setTimeout(r, 1)); }';
const upTo = (count: number) => Array.from({ length: count }, (_, index) => `${index + 1}`);

describe('the host process', () => {
  it('killed in the middle of a run, puts the settings of the phone back at its next start', async () => {
    const first = spawnHost();
    await service.untilReady(serial);
    const run = { run_id: randomUUID(), device_id: 'device-1', serial };
    service.send(launchOf(countForEver, [run], [], { time_zone: 'Asia/Kolkata' }));
    await service.until(() => service.messages(run.run_id).length > 0);
    await isZone('Asia/Kolkata');
    await first.end('SIGKILL');
    await isZone('Asia/Kolkata');
    spawnHost();
    await isZone('UTC');
    await expect.poll(() => readHostRows(dataDir, 'earlier_settings')).toEqual([]);
  });

  it('killed in the middle of runs, leaves a prefix without gaps and a true end of each, and runs none again', async () => {
    const first = spawnHost();
    await service.untilReady(serial);
    const endless = launch(countForEver, 3);
    const [done = ''] = launch('for (let i = 1; i <= 50; i += 1) console.log(i);');
    for (const runId of endless) await service.until(() => service.messages(runId).length > 100);
    await service.untilEnded(done);
    // From here on, lines stay in the spool: the next run ends before its lines are stored.
    service.acknowledgesLogs = false;
    const before = service.messages(endless[0] ?? '').length;
    const [late = ''] = launch("console.log('late');");
    await service.untilEnded(late);
    await first.end('SIGKILL');
    service.acknowledgesLogs = true;

    spawnHost();
    for (const runId of endless) {
      const report = await service.untilEnded(runId);
      expect(report).toMatchObject({ status: 'failed', error: { code: 'host_restarted' } });
      expect(report.ended_at).toBeGreaterThanOrEqual(report.started_at ?? Infinity);
      expect(service.messages(runId)).toEqual(upTo(service.messages(runId).length));
      expect(service.messages(runId).length).toBeGreaterThan(100);
    }
    expect(service.messages(endless[0] ?? '').length).toBeGreaterThan(before + 50);
    for (const runId of [done, late]) expect(service.runs.get(runId)).toMatchObject({ status: 'completed' });
    expect(service.messages(done)).toEqual(upTo(50));
  });

  it('killed while the server is away, brings afterwards what it had spooled', async () => {
    const first = spawnHost();
    await service.untilReady(serial);
    const [endless = ''] = launch(countForEver);
    const [done = ''] = launch(`for (let i = 1; i <= 300; i += 1) {
      console.log(i);
      await new Promise((r) => setTimeout(r, 1));
    }`);
    await service.until(() => service.messages(done).length > 10 && service.messages(endless).length > 10);
    await service.goAway();
    await untilJournaled(dataDir, done, 'completed');
    await first.end('SIGKILL');
    await service.listen();

    spawnHost();
    expect(await service.untilEnded(done)).toMatchObject({ status: 'completed', error: null });
    expect(service.messages(done)).toEqual(upTo(300));
    expect(await service.untilEnded(endless)).toMatchObject({ error: { code: 'host_restarted' } });
    expect(service.messages(endless)).toEqual(upTo(service.messages(endless).length));
    expect(service.messages(endless).length).toBeGreaterThan(100);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'stops at %s: ends its runs, says so, and exits with 0',
    async (signal) => {
      const child = spawnHost();
      await service.untilReady(serial);
      const [runId = ''] = launch(countForEver);
      await service.until(() => service.messages(runId).length > 20);
      expect(await child.end(signal)).toBe(0);
      expect(service.runs.get(runId)).toMatchObject({ status: 'failed', error: { code: 'host_stopped' } });
      const messages = service.messages(runId);
      expect(messages.slice(0, -1)).toEqual(upTo(messages.length - 1));
      expect(messages.at(-1)).toBe('The host program was stopped, which ended this run.');
      expect(readHostRows(dataDir, 'log_chunk')).toEqual([]);
    },
  );

  it('exits with one line at a bad setting', async () => {
    const child = spawnHost({ PHALANX_RUN_MEMORY_MB: 'much' });
    expect(await child.ended()).toBe(2);
    expect(await child.stderr).toBe(
      'PHALANX_RUN_MEMORY_MB is "much": give a whole number from 16 to 4096 MB.\n',
    );
  });
});
