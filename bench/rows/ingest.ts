/**
 * Compares console entries that 500 hosts send over their WebSockets, counted until the server has acknowledged the
 * last one and thus stored it, with a loop in one process that writes such entries with the server's own
 * `LogFile.append`, from batches in memory.
 *
 * Fair because both write the same rows to the same tables with the same durability, and the loop has every
 * advantage: no sockets, no JSON, no IDs to assign, no acknowledgements, and 500 batches in each transaction, more
 * than the server usually collects. Every host is one connection with one device and one run, started through the
 * API. The hosts run in another process than the server; their frames are prepared before the measurement.
 */
import { Type } from 'typebox';

import { interleave } from '../harness/rounds.ts';
import type { Row, RowResult } from '../harness/row.ts';
import type { Stage } from '../harness/stage.ts';
import { cpuNote, meterWork, WorkDone } from '../harness/work-meter.ts';
import { launchOnEach, listDeviceIds } from '../http/api.ts';
import { startServerWithHosts } from './server-with-hosts.ts';

const hostCount = 500;
const sizes = { min: 100, max: 200 };
/** Maximum number of unacknowledged frames of a host. */
const window = 4;
const durationMs = 2500;
const transactions = 6;
const rounds = 5;

export const ingest: Row = {
  name: 'ingest',
  title: 'log entries of 500 hosts, stored and acknowledged',
  against: 'a loop that stores the same rows',
  async measure(stage: Stage): Promise<RowResult> {
    const { api, server, hosts } = await startServerWithHosts(stage, { hosts: hostCount, devicesPerHost: 1 });
    await launchOnEach(api, await listDeviceIds(api));
    await hosts.call('prepareLogs', { ...sizes, window }, Type.Unknown());
    const loop = await stage.start('log-store-baseline');
    await loop.call('open', { folder: await stage.folder(), streams: hostCount, ...sizes }, Type.Unknown());
    const figure = meterWork(server, () => hosts.call('sendLogs', { durationMs }, WorkDone));
    const baseline = meterWork(loop, () => loop.call('append', {}, WorkDone));
    const medians = await interleave({
      rounds,
      figure: () => figure.run(),
      baseline: async () => {
        await loop.call('prepare', { transactions }, Type.Unknown());
        return baseline.run();
      },
    });
    return {
      ...medians,
      unit: 'entries/s',
      targets: [
        { of: 'figure', bound: 'at least', value: 100_000 },
        { of: 'ratio', bound: 'at least', value: 0.5 },
      ],
      notes: [
        `frames of ${sizes.min} to ${sizes.max} entries, up to ${window} of a host under way`,
        cpuNote('entry', figure, baseline),
      ],
    };
  },
};
