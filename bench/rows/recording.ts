/**
 * Figure: the additional processor time of the host for a step of an automation that stores its screen with a
 * low-quality picture; compared with all that the same step needs without storing. The notes contain the wall time as
 * well: a tap waits until the picture of the previous screen is taken. A step reads the screen, taps, and pauses for
 * 250 ms, as the wait helpers do. The sandbox's own time is excluded.
 *
 * Fair because both run the product's sandbox, driver and recorder against the same simulated phone, a separate
 * process, alternately. Harder than with a real phone, where the phone's processor makes the picture instead of this
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

/** Logs the mean time of its steps in ms. The first step does not count. */
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
