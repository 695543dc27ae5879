/**
 * Figure: the processor time of the host for an entry of a log, from the run's process until the service has
 * acknowledged it, while fifty runs log one entry each in a turn of the event loop; compared with a program that
 * appends the same entries to a file and sends them. The notes contain the same for twenty entries of each run at a
 * time.
 *
 * Fair because both send to the same service, a separate process, and write to the same disk, alternately. The spool
 * also holds what is not acknowledged, deletes what is, and sends it again after a break.
 */
import { Type } from 'typebox';
import { interleave } from '../harness/rounds.ts';
import type { Row, RowResult } from '../harness/row.ts';
import type { Stage } from '../harness/stage.ts';

const rounds = 5;
const runCount = 50;
const single = { turns: 400, entriesPerTurn: 1 };
const batched = { turns: 100, entriesPerTurn: 20 };

export const spool: Row = {
  name: 'spool',
  title: "host's processor time for an entry of a log until it is acknowledged",
  against: 'appending it to a file and sending it',
  async measure(stage: Stage): Promise<RowResult> {
    const service = await stage.start('spool');
    const address = await service.call(
      'serve',
      {},
      Type.Object({ url: Type.String(), token: Type.String() }),
    );
    const host = await stage.start('spool');
    await host.call('open', { ...address, dir: await stage.folder() }, Type.Unknown());
    const bareService = await stage.start('spool');
    const bareAddress = await bareService.call(
      'serve',
      {},
      Type.Object({ url: Type.String(), token: Type.String() }),
    );
    const bare = await stage.start('spool');
    await bare.call('openBare', { ...bareAddress, dir: await stage.folder() }, Type.Unknown());
    const cpuOf = async (program: typeof host, command: string, load: typeof single): Promise<number> => {
      const before = await program.cpuMs();
      await program.call(command, load, Type.Unknown());
      return (((await program.cpuMs()) - before) * 1000) / (load.turns * load.entriesPerTurn * runCount);
    };
    const ofLoad = (load: typeof single) =>
      interleave({
        rounds,
        figure: () => cpuOf(host, 'log', load),
        baseline: () => cpuOf(bare, 'logBare', load),
      });
    const one = await ofLoad(single);
    const many = await ofLoad(batched);
    return {
      ...one,
      unit: 'µs',
      targets: [],
      notes: [
        `of twenty entries at a time ${many.figure.toFixed(1)} µs for each, against ${many.baseline.toFixed(1)}`,
      ],
    };
  },
};
