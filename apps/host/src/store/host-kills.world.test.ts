/** A host that is killed again and again in the middle of its work, with and without a server. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isEnded } from '@phalanx/protocol';
import { startSimulatedPhone } from '@phalanx/simulated-phone';
import { expect, it, onTestFinished } from 'vitest';
import { HostProcess } from '../testing/host-process.ts';
import { readHostRows } from '../testing/host-rows.ts';
import { launchOf } from '../testing/launch-of.ts';
import { startTestService } from '../testing/test-service.ts';
import { until, untilEmpty } from '../testing/until.ts';

/** Number of kills. `KILL_ROUNDS=200 npm run test:world -- host-kills` runs longer. */
const rounds = Number(process.env['KILL_ROUNDS'] ?? 4);
const maxRoundMs = 60_000;
const serial = 'simulated-1';

/** Logs lines without end, and tells each file and each record once it is kept. */
const code = `
  for (let i = 1; ; i += 1) {
    console.log('line ' + i);
    if (i % 10 === 0 && i <= 500) {
      await agent.run.attach('f' + i, 'x'.repeat(5000));
      console.log('attached f' + i);
    }
    if (i === 25) {
      await agent.utils.debug('t');
      console.log('recorded');
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }`;

it(
  `of ${rounds} killed hosts nothing is lost that they had said, and nothing is there twice`,
  async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'phalanx-kills-'));
    const phone = await startSimulatedPhone({ serial });
    const service = await startTestService();
    let host: HostProcess | undefined;
    onTestFinished(async () => {
      await host?.end('SIGKILL');
      await service.close();
      await phone.stop();
      await rm(dataDir, { recursive: true });
    });
    const startHost = async (): Promise<void> => {
      const before = service.connections;
      host = new HostProcess({ service, dataDir, phone });
      await service.untilReady(serial, before);
    };
    const attached = (runId: string): string[] =>
      [...service.records.files.values()].flatMap(({ runId: of, name }) =>
        of === runId ? (name ?? []) : [],
      );

    await startHost();
    for (let round = 1; round <= rounds; round += 1) {
      const runIds = Array.from({ length: 3 }, () => randomUUID());
      const runs = runIds.map((run_id) => ({ run_id, device_id: 'device-1', serial }));
      service.send(launchOf(code, runs));
      for (const runId of runIds) await service.until(() => service.messages(runId).length > 0);
      await sleep(Math.random() * 500);
      const isAlone = round % 2 === 0;
      if (isAlone) await service.goAway();
      await sleep(Math.random() * 500);
      await host?.end('SIGKILL');
      const toldBefore = runIds.map((runId) => service.messages(runId).length);
      if (isAlone) await service.listen();
      await startHost();
      for (const [index, runId] of runIds.entries()) {
        await service.until(() => {
          const report = service.runs.get(runId);
          return report !== undefined && isEnded(report.status) && report.log_left === undefined;
        });
        expect(service.runs.get(runId)).toMatchObject({ error: { code: 'host_restarted' } });
        const messages = service.messages(runId);
        expect(messages.length).toBeGreaterThanOrEqual(toldBefore[index] ?? 0);
        const lines = messages.filter((message) => message.startsWith('line'));
        expect(lines).toEqual(lines.map((_, at) => `line ${at + 1}`));
        const names = messages
          .filter((message) => message.startsWith('attached'))
          .map((message) => message.slice(9));
        await until(
          'the files',
          () => attached(runId),
          (all) => names.every((name) => all.includes(name)),
        );
        expect(new Set(attached(runId)).size).toBe(attached(runId).length);
        if (messages.includes('recorded')) await service.untilRecorded(runId, 'debug');
      }
      for (const folder of ['records', 'files']) await untilEmpty(join(dataDir, 'host', folder));
      await until(
        'an empty journal',
        () => [...readHostRows(dataDir, 'run'), ...readHostRows(dataDir, 'log_chunk')],
        ({ length }) => length === 0,
      );
    }
    expect(service.violations).toEqual([]);
  },
  rounds * maxRoundMs,
);
