/**
 * Figure: the additional share of a core that the host needs for a run that is filmed as video, compared with all
 * that it needs for the same run without a film. The run opens and leaves an app, once a second each, and reads the
 * screen, which costs the same in both. Processor time of the sandbox and the phone is excluded.
 *
 * Harder than with a real phone: a simulated one does not compress, so that a second of its video has several times
 * the bytes of the 1 Mbit/s that a film requests. The notes contain the actual size.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Type } from 'typebox';

import type { BenchProcess } from '../harness/bench-process.ts';
import { interleave } from '../harness/rounds.ts';
import type { Row, RowResult } from '../harness/row.ts';
import type { Stage } from '../harness/stage.ts';
import { ask, directLaunch, launchPath, type Api } from '../http/api.ts';
import { startServerWithPhones } from './server-with-phones.ts';

const rounds = 3;
const warmUpMs = 4000;
const filmedMs = 15_000;
/** Limit in MB above the size of a round's videos. */
const filmMb = 1000;

const moving = `for (;;) {
  await agent.actions.launchApp('dev.phalanx.sample.form');
  await agent.actions.sleep(1000);
  await agent.actions.screenContent();
  await agent.actions.home();
  await agent.actions.sleep(1000);
}`;

const Runs = Type.Object({ runs: Type.Array(Type.Object({ run_id: Type.String() })) });
const Film = Type.Object({
  pictures: Type.Array(Type.Object({})),
  videos: Type.Array(
    Type.Object({ began_at: Type.Number(), ended_at: Type.Number(), size_bytes: Type.Number() }),
  ),
});

/** Returns the share of a core that the host uses during the run. */
async function shareOfRun(
  { api, host, deviceId }: { api: Api; host: BenchProcess; deviceId: string },
  film: boolean,
): Promise<number> {
  await ask(api, launchPath, Type.Unknown(), { ...directLaunch(deviceId), code: moving, film });
  await sleep(warmUpMs);
  const [before, beganAt] = [await host.cpuMs(), performance.now()];
  await sleep(filmedMs);
  const share = ((await host.cpuMs()) - before) / (performance.now() - beganAt);
  await ask(api, '/api/v2/devices/stopAllAutomations', Type.Unknown(), { device_id: deviceId });
  await sleep(warmUpMs);
  return 100 * share;
}

export const film: Row = {
  name: 'film',
  title: 'of a core, what the host takes more for a run that is filmed as video',
  against: 'all that it takes for the run without a film',
  async measure(stage: Stage): Promise<RowResult> {
    const { api, host, deviceIds } = await startServerWithPhones(stage, 1, { scrcpy: true, filmMb });
    const there = { api, host, deviceId: deviceIds[0] ?? '' };
    const { figure, baseline } = await interleave({
      rounds,
      figure: () => shareOfRun(there, true),
      baseline: () => shareOfRun(there, false),
    });
    const { runs } = await ask(api, '/api/v2/runs?limit=10', Runs);
    const films = await Promise.all(runs.map(({ run_id }) => ask(api, `/api/v2/runs/${run_id}/film`, Film)));
    const videos = films.flatMap((one) => one.videos);
    const seconds = videos.reduce((sum, { began_at, ended_at }) => sum + (ended_at - began_at) / 1000, 0);
    const megabytes = videos.reduce((sum, { size_bytes }) => sum + size_bytes, 0) / 1_000_000;
    return {
      figure: figure - baseline,
      baseline,
      unit: '%',
      targets: [{ of: 'figure', bound: 'at most', value: 3 }],
      notes: [
        `${seconds.toFixed(0)} s of video in ${videos.length} files, ${((60 * megabytes) / seconds).toFixed(0)} MB a minute: a simulated phone compresses nothing, a real one sends 7.5 MB at most`,
        `${films.reduce((sum, { pictures }) => sum + pictures.length, 0)} pictures beside them`,
      ],
    };
  },
};
