/**
 * `phones-idle`: the host's processor time with thirty unused phones, in percent of one core; compared with one
 * phone. `phones-busy`: steps per second of thirty automations that read the screen and tap as fast as they can;
 * compared with a single one. `phones-storing`: the host's processor time with thirty automations that each store
 * four screens per second with a low-quality picture, in percent of one core; compared with the same automations that
 * only read them. `phones-waiting`: the processor time of the host that thirty automations add while they wait for a
 * text on unchanging screens, by the resident helper, in percent of one core; compared with the same phones unused.
 *
 * The phones are simulated, in a separate process on the same processors. With real ones the host has all processors
 * for itself, and the phones' processors make the pictures.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Type } from 'typebox';

import type { Row, RowResult } from '../harness/row.ts';
import type { Stage } from '../harness/stage.ts';
import { ask, directLaunch, launchPath, type Api } from '../http/api.ts';
import { startServerWithPhones } from './server-with-phones.ts';

const many = 30;
/** Six heartbeats, and one health check of each phone, in ms. */
const idleMs = 30_000;
const busyMs = 10_000;
/** Settling time in ms: waits poll more often at their beginning, and new sandboxes replace the used ones. */
const settleMs = 12_000;

async function idlePercent(stage: Stage, count: number): Promise<number> {
  const { host } = await startServerWithPhones(stage, count);
  const before = await host.cpuMs();
  await sleep(idleMs);
  return (100 * ((await host.cpuMs()) - before)) / idleMs;
}

export const phonesIdle: Row = {
  name: 'phones-idle',
  title: 'processor time of a host with 30 idle phones, percent of a core',
  against: 'the same with one phone',
  async measure(stage: Stage): Promise<RowResult> {
    const figure = await idlePercent(stage, many);
    const baseline = await idlePercent(stage, 1);
    return {
      figure,
      baseline,
      unit: '%',
      targets: [{ of: 'figure', bound: 'at most', value: 2 }],
      notes: [],
    };
  },
};

const waitingCode = `await agent.actions.waitForText('never', { timeoutMs: 600_000 });`;

export const phonesWaiting: Row = {
  name: 'phones-waiting',
  title: 'processor time that 30 waits on still screens add to a host, percent of a core',
  against: 'the same phones, idle',
  async measure(stage: Stage): Promise<RowResult> {
    const { api, host, deviceIds } = await startServerWithPhones(stage, many, { helper: 'resident' });
    const percent = async (): Promise<number> => {
      const before = await host.cpuMs();
      await sleep(idleMs);
      return (100 * ((await host.cpuMs()) - before)) / idleMs;
    };
    const baseline = await percent();
    for (const deviceId of deviceIds)
      await ask(api, launchPath, Type.Unknown(), { ...directLaunch(deviceId), code: waitingCode });
    await sleep(settleMs);
    const waiting = await percent();
    return {
      figure: Math.max(0, waiting - baseline),
      baseline,
      unit: '%',
      targets: [{ of: 'figure', bound: 'at most', value: 2 }],
      notes: ["without the sandboxes' time"],
    };
  },
};

const busyCode = `
const endsAt = Date.now() + ${busyMs};
let steps = 0;
for (; Date.now() < endsAt; steps += 1) {
  await agent.actions.screenContent();
  await agent.actions.tap(10, 900);
}
agent.control.setResult(steps);`;

const Runs = Type.Object({
  runs: Type.Array(Type.Object({ run_id: Type.String(), status: Type.String() })),
});
const Result = Type.Object({ run: Type.Object({ result: Type.Number() }) });

async function stepsOf(api: Api, deviceId: string, code: string): Promise<number> {
  const launch = { ...directLaunch(deviceId), code };
  await ask(api, launchPath, Type.Unknown(), launch);
  for (;;) {
    const { runs } = await ask(api, `/api/v2/runs?launch_id=${launch.launch_id}`, Runs);
    const [run] = runs;
    if (run?.status === 'completed') return (await ask(api, `/api/v2/runs/${run.run_id}`, Result)).run.result;
    if (run !== undefined && run.status !== 'running') throw new Error(`the run has ${run.status}`);
    await sleep(500);
  }
}

/** Runs the same automation on each phone in parallel. Returns its steps and the host's processor time for them. */
async function runOnAll(
  { api, host, deviceIds }: Awaited<ReturnType<typeof startServerWithPhones>>,
  code: string,
): Promise<{ steps: number[]; total: number; cpuMs: number }> {
  const before = await host.cpuMs();
  const steps = await Promise.all(deviceIds.map((deviceId) => stepsOf(api, deviceId, code)));
  const total = steps.reduce((sum, one) => sum + one, 0);
  return { steps, total, cpuMs: (await host.cpuMs()) - before };
}

export const phonesBusy: Row = {
  name: 'phones-busy',
  title: 'steps a second of 30 automations at once that read and tap',
  against: 'one such automation',
  async measure(stage: Stage): Promise<RowResult> {
    const phones = await startServerWithPhones(stage, many);
    const alone = await stepsOf(phones.api, phones.deviceIds[0] ?? '', busyCode);
    const { steps, total, cpuMs } = await runOnAll(phones, busyCode);
    return {
      figure: (1000 * total) / busyMs,
      baseline: (1000 * alone) / busyMs,
      unit: 'steps/s',
      targets: [],
      notes: [
        `${(cpuMs / total).toFixed(2)} ms of the host's processor time a step, without the sandbox's`,
        `slowest automation ${(1000 * Math.min(...steps)) / busyMs} steps/s, fastest ${(1000 * Math.max(...steps)) / busyMs}`,
      ],
    };
  },
};

const screenEveryMs = 250;

/** Reads four screens per second and executes `store` with each. */
const pacedCode = (store: string): string => `
const beganAt = Date.now();
let steps = 0;
while (Date.now() < beganAt + ${busyMs}) {
  const screen = await agent.actions.screenContent();
  ${store}
  steps += 1;
  const leftMs = beganAt + steps * ${screenEveryMs} - Date.now();
  if (leftMs > 0) await agent.actions.sleep(leftMs);
}
agent.control.setResult(steps);`;

const storing = `await agent.utils.outOfSteps.storeScreen(screen, 'bench', 'Home', steps, ScreenshotRecord.LOW_QUALITY);`;

export const phonesStoring: Row = {
  name: 'phones-storing',
  title: 'processor time of a host with 30 automations that store 4 screens a second, percent of a core',
  against: 'the same that only read them',
  async measure(stage: Stage): Promise<RowResult> {
    const phones = await startServerWithPhones(stage, many);
    const read = await runOnAll(phones, pacedCode(''));
    const stored = await runOnAll(phones, pacedCode(storing));
    const percentOf = ({ cpuMs }: { cpuMs: number }): number => (100 * cpuMs) / busyMs;
    const perSecond = ({ total }: { total: number }): string => ((1000 * total) / busyMs).toFixed(0);
    return {
      figure: percentOf(stored),
      baseline: percentOf(read),
      unit: '%',
      targets: [{ of: 'figure', bound: 'at most', value: 100 }],
      notes: [
        `${perSecond(stored)} screens/s were stored, ${perSecond(read)} only read; without the sandbox's time`,
      ],
    };
  },
};
