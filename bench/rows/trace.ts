/**
 * Figure: the processor time of the host that the trace adds to a step that reads the screen until it finds a text;
 * compared with all that the same step needs untraced. Both include the hash that identifies a screen, because
 * records need the readings too. The notes contain the bytes of a step as a log entry, and the server's latency for a
 * trace of 10,000 steps.
 *
 * Fair because both run the product's sandbox and driver against the same simulated phone, a separate process,
 * alternately.
 */
import { Type } from 'typebox';

import { interleave, median } from '../harness/rounds.ts';
import type { Row, RowResult } from '../harness/row.ts';
import type { Stage } from '../harness/stage.ts';
import { askText, launchOnEach, listDeviceIds } from '../http/api.ts';
import { startServerWithHosts } from './server-with-hosts.ts';

const stepsPerRun = 100;
const rounds = 5;
const manySteps = 10_000;
const openings = 7;

const automation = `for (let step = 0; step < ${stepsPerRun}; step += 1) await agent.actions.waitForText(/./);`;

const Told = Type.Object({ steps: Type.Integer(), bytes: Type.Integer() });

export const trace: Row = {
  name: 'trace',
  title: 'processor time that the trace adds to a step',
  against: 'the step without a trace',
  async measure(stage: Stage): Promise<RowResult> {
    const phone = await stage.start('steps');
    const address = await phone.call('phone', {}, Type.Object({ host: Type.String(), port: Type.Integer() }));
    const host = await stage.start('steps');
    await host.call('open', { ...address, dataDir: await stage.folder() }, Type.Unknown());
    const cpuOf = async (isTraced: boolean): Promise<number> => {
      const before = await host.cpuMs();
      await host.call('run', { code: automation, isTraced }, Type.String());
      return ((await host.cpuMs()) - before) / stepsPerRun;
    };
    const { figure, baseline } = await interleave({
      rounds,
      figure: () => cpuOf(true),
      baseline: () => cpuOf(false),
    });
    const { steps, bytes } = await host.call('traced', {}, Told);
    const openingMs = await timeOpening(stage);
    return {
      figure: figure - baseline,
      baseline,
      unit: 'ms',
      targets: [{ of: 'figure', bound: 'at most', value: 1 }],
      notes: [
        `${Math.round(bytes / Math.max(1, steps))} bytes a step as a log entry; the archive compresses it`,
        `a trace of ${manySteps.toLocaleString('en-US')} steps is answered in ${openingMs.toFixed(0)} ms`,
      ],
    };
  },
};

async function timeOpening(stage: Stage): Promise<number> {
  const { api, hosts } = await startServerWithHosts(stage, { hosts: 1, devicesPerHost: 1 });
  await launchOnEach(api, await listDeviceIds(api));
  const runId = await hosts.call('sendSteps', { count: manySteps }, Type.String());
  const took: number[] = [];
  for (let opening = 0; opening < openings; opening += 1) {
    const beganAt = performance.now();
    await askText(api, `/api/v2/runs/${runId}/trace?limit=${manySteps}`);
    took.push(performance.now() - beganAt);
  }
  return median(took);
}
