/**
 * Figure: the host's processor time that a step of an automation takes more when it stores its screen with a picture of
 * low quality; compared with all that the same step takes without storing. The notes tell the wall time as well: a tap waits until
 * the picture of the screen before it is taken. A step reads the screen, taps, and pauses for
 * 250 ms, as the wait helpers do. The sandbox's own time is not in it.
 *
 * Fair because both run the product's sandbox, driver and recorder against the same simulated phone, which is a process
 * of its own, in turns. Harder than with a real phone: there the picture costs the phone's processor and not this
 * machine's. Submitting is not part of a step.
 */
import { Type } from 'typebox';

import type { BenchProcess } from '../harness/bench-process.ts';
import { interleave, median } from '../harness/rounds.ts';
import type { Row, RowResult } from '../harness/row.ts';
import type { Stage } from '../harness/stage.ts';

const stepsPerRun = 40;
const rounds = 5;

const storing = `await agent.utils.outOfSteps.storeScreen(screen, 'bench', 'Home', left, ScreenshotRecord.LOW_QUALITY);`;

/** Logs the mean time of its steps, in ms. The first one is not counted. */
const automation = (extra: string) => `
let beganAt = 0;
for (let left = ${stepsPerRun}; left >= 0; left -= 1) {
  const screen = await agent.actions.screenContent();
  ${extra}
  await agent.actions.tap(10, 900);
  await agent.actions.sleep(250);
  if (left === ${stepsPerRun}) beganAt = performance.now();
}
console.log((performance.now() - beganAt) / ${stepsPerRun});`;

export const recording: Row = {
  name: 'recording',
  title: 'processor time that storing a screen with a picture adds to a step (its wall time is in the notes)',
  against: 'the step without storing',
  async measure(stage: Stage): Promise<RowResult> {
    const phone = await stage.start('steps');
    const address = await phone.call('phone', {}, Type.Object({ host: Type.String(), port: Type.Integer() }));
    const host = await stage.start('steps');
    await host.call('open', { ...address, dataDir: await stage.folder() }, Type.Unknown());
    const steps: Record<'storing' | 'bare', number[]> = { storing: [], bare: [] };
    const cpuOf = async (code: string, kind: keyof typeof steps): Promise<number> => {
      const before = await host.cpuMs();
      steps[kind].push(await stepTime(host, code));
      return ((await host.cpuMs()) - before) / stepsPerRun;
    };
    const { figure, baseline } = await interleave({
      rounds,
      figure: () => cpuOf(automation(storing), 'storing'),
      baseline: () => cpuOf(automation(''), 'bare'),
    });
    return {
      figure: figure - baseline,
      baseline,
      unit: 'ms',
      targets: [{ of: 'figure', bound: 'at most', value: 3 }],
      notes: [
        `wall time: ${median(steps.storing).toFixed(0)} ms a step that stores, ${median(steps.bare).toFixed(0)} ms one that does not: ${(median(steps.storing) - median(steps.bare)).toFixed(0)} ms more, in which the tap waits until the picture is taken`,
        `${figure.toFixed(1)} ms of processor time a step that stores, ${baseline.toFixed(1)} ms one that does not`,
      ],
    };
  },
};

async function stepTime(host: BenchProcess, code: string): Promise<number> {
  return Number(await host.call('run', { code }, Type.String()));
}
