/**
 * Compared: the time of one step of an automation that stores every screen with a picture of low quality, and of the
 * same step that stores nothing. A step reads the screen, taps, and pauses for 250 ms, as the wait helpers do.
 *
 * Fair because both run the product's sandbox, driver and recorder against the same simulated phone, which is a process
 * of its own, in turns. Harder than with a real phone: there the picture costs the phone's processor and not this
 * machine's. Submitting is not part of a step.
 */
import { Type } from 'typebox';

import type { BenchProcess } from '../harness/bench-process.ts';
import { interleave } from '../harness/rounds.ts';
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
  title: 'a step of an automation that stores every screen with a picture',
  against: 'the same step without storing',
  async measure(stage: Stage): Promise<RowResult> {
    const phone = await stage.start('steps');
    const address = await phone.call('phone', {}, Type.Object({ host: Type.String(), port: Type.Integer() }));
    const host = await stage.start('steps');
    await host.call('open', { ...address, dataDir: await stage.folder() }, Type.Unknown());
    const cpuMs = { recorded: 0, bare: 0 };
    const medians = await interleave({
      rounds,
      figure: async () => {
        const before = await host.cpuMs();
        const stepMs = await stepTime(host, automation(storing));
        cpuMs.recorded = (await host.cpuMs()) - before;
        return stepMs;
      },
      baseline: async () => {
        const before = await host.cpuMs();
        const stepMs = await stepTime(host, automation(''));
        cpuMs.bare = (await host.cpuMs()) - before;
        return stepMs;
      },
    });
    const perStep = (ms: number): string => (ms / stepsPerRun).toFixed(1);
    return {
      ...medians,
      unit: 'ms',
      targets: [{ of: 'ratio', bound: 'at most', value: 1.1 }],
      notes: [
        `processor time of the host for a step in the last round: ${perStep(cpuMs.recorded)} ms, without storing ${perStep(cpuMs.bare)} ms`,
      ],
    };
  },
};

async function stepTime(host: BenchProcess, code: string): Promise<number> {
  return Number(await host.call('run', { code }, Type.String()));
}
