import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { TestProject } from '../../code/projects/testing/test-projects.ts';
import { SmallDisk } from '../../testing/engines/small-disk.ts';
import type { TestHost } from '../../testing/test-host.ts';
import { TestLog } from '../../testing/test-log.ts';
import { TestServer } from '../../testing/test-server.ts';

const probe = SmallDisk.create(1);
probe?.remove();

describe.skipIf(probe === undefined)('a full disk', () => {
  let disk: SmallDisk;
  let server: TestServer;
  let log: TestLog;
  let host: TestHost;
  let deviceId: string;

  beforeEach(async () => {
    const made = SmallDisk.create(24);
    if (made === undefined) throw new Error('no disk could be mounted');
    disk = made;
    log = new TestLog();
    server = await TestServer.start({
      // Engine whose database is on this disk.
      engine: 'SQLite',
      dataDir: `${disk.folder}/data`,
      log: log.logger,
      sweepMs: 200,
    });
    ({ host, deviceId } = await server.connectHost());
  });
  afterEach(async () => {
    await host.cut();
    await server.dispose();
    disk.remove();
  });

  const isReady = async (): Promise<boolean> => (await server.api('GET', '/readyz')).status === 200;

  async function makeRoom(): Promise<void> {
    disk.makeRoom();
    await expect.poll(isReady).toBe(true);
  }

  it('is what every caller is told that wants to store something, and nothing is stored', async () => {
    const project = await TestProject.create(server.api);
    await project.put('notes.txt', 'one');
    disk.fill();
    const replies = [
      await project.write('notes.txt', 'x'.repeat(100_000)),
      await project.write('main.ts', 'const one = 1;'),
      await server.api('POST', '/api/v2/automation-project', { body: { name: 'second' } }),
      await server.api('POST', '/api/v2/users', { body: { name: 'ada' } }),
      await server.api('POST', '/api/v2/tokens', { body: { name: 'another' } }),
      await server.start(deviceId),
    ];
    for (const { status, body } of replies)
      expect({ status, code: body['code'] }).toEqual({ status: 507, code: 'storage_full' });
    expect(await project.content('notes.txt')).toBe('one');
    await makeRoom();
    await project.put('notes.txt', 'two');
    expect(await project.content('notes.txt')).toBe('two');
    expect((await server.start(deviceId)).status).toBe(200);
    const { body } = await server.api('GET', '/api/v2/automation-project');
    expect(body['projects']).toHaveLength(1);
  });

  it('is told to the operator once, at /readyz and as a figure, and passes by itself', async () => {
    disk.fill();
    for (let count = 0; count < 20; count += 1) await server.start(deviceId);
    const ready = await server.api('GET', '/readyz');
    expect(ready).toMatchObject({ status: 503, body: { success: false, code: 'not_ready' } });
    expect(ready.body['message']).toContain('the data folder does not work, there is no room left');
    expect((await server.api('GET', '/metrics')).text).toContain('phalanx_faults{part="disk"} 1');
    expect((await server.api('GET', '/healthz')).status).toBe(200);
    await makeRoom();
    expect((await server.api('GET', '/metrics')).text).toContain('phalanx_faults{part="disk"} 0');
    expect(log.errors).toEqual([
      'The data folder does not work: there is no room left. Free space on its disk.',
    ]);
    expect(log.lines.at(-1)?.msg).toBe('The data folder works again');
  });

  it('costs no host its connection and no phone its name; what they say waits, and is stored once', async () => {
    const { launchId, runId } = await server.startRun(host, deviceId);
    await host.log(runId, ['line 1']);
    disk.fill();
    // More than the space that SQLite may have left over in its files.
    for (let line = 2; line <= 40; line += 1) {
      host.buffer(runId, [[server.clock.now(), 0, 1, `line ${line} ${'x'.repeat(20_000)}`]]);
    }
    host.sendLogs(runId, 5);
    host.report(runId, 'completed');
    host.send({ type: 'devices', devices: host.devices.map((one) => ({ ...one, model: 'renamed' })) });
    for (let beat = 0; beat < 5; beat += 1) await host.heartbeat();
    await expect.poll(isReady).toBe(false);
    const { body } = await server.api('GET', '/api/v2/devices');
    // The end of its run is not stored yet.
    expect(body['devices']).toMatchObject([{ state: 'busy' }]);
    expect(host.messages('runs_stored')).toEqual([]);
    disk.makeRoom();
    await host.logsStored(runId);
    await expect.poll(() => host.messages('runs_stored').length).toBeGreaterThan(0);
    expect(host.isOpen).toBe(true);
    expect(await server.run(runId)).toMatchObject({ status: 'completed', error: null });
    const logs = await server.allLogs(deviceId, [launchId]);
    expect(logs.map(({ message }) => message.split(' ').slice(0, 2).join(' '))).toEqual(
      Array.from({ length: 40 }, (_, index) => `line ${index + 1}`),
    );
  });

  it('does not keep expired log files from making room', async () => {
    const { runId } = await server.startRun(host, deviceId);
    await host.log(runId, ['old']);
    server.clock.advance(2 * 60_000);
    await host.log(runId, ['newer']);
    disk.fill();
    const before = await server.logFiles();
    server.clock.advance(9 * 60_000);
    await expect.poll(() => server.logFiles()).toHaveLength(before.length - 1);
  });
});
