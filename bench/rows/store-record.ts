/**
 * Compares one record of 50 screens, from a host's report on its connection until the server has replied to the `PUT`
 * of its 100th capture, with the same bytes written to 100 files, each synced, and 51 rows in one SQLite commit.
 *
 * Fair because both are on the disk at the end, and both write one capture after the other, as the product's host
 * does. The service does more for each capture: it checks the content, commits its arrival separately, and syncs the
 * folder too, so that a crash at any moment loses nothing acknowledged.
 */
import { Type } from 'typebox';

import { interleave, median } from '../harness/rounds.ts';
import type { Row, RowResult } from '../harness/row.ts';
import type { Stage } from '../harness/stage.ts';
import { sampleCaptures, screenCount } from '../hosts/sample-record.ts';
import { launchOnEach, listDeviceIds } from '../http/api.ts';
import { startServerWithHosts } from './server-with-hosts.ts';

const recordsPerRound = 3;
/** Number of parallel uploads of the product's host. */
const atOnce = 4;
const rounds = 7;

export const storeRecord: Row = {
  name: 'store-record',
  title: `a record of ${screenCount} screens is stored with all its captures`,
  against: 'files, each synced, and one SQLite commit',
  async measure(stage: Stage): Promise<RowResult> {
    const { api, server, hosts } = await startServerWithHosts(stage, { hosts: 1, devicesPerHost: 1 });
    await launchOnEach(api, await listDeviceIds(api));
    const bare = await stage.start('record-baseline');
    await bare.call('open', { folder: await stage.folder() }, Type.Unknown());
    const sendRecords = (records: number, workers: number): Promise<number> =>
      hosts.call('sendRecords', { ...api, records, atOnce: workers }, Type.Number());
    const [cpuMs, perSecond]: [number[], number[]] = [[], []];
    const medians = await interleave({
      rounds,
      figure: async () => {
        const before = await server.cpuMs();
        const elapsedMs = await sendRecords(recordsPerRound, 1);
        cpuMs.push(((await server.cpuMs()) - before) / recordsPerRound);
        perSecond.push((1000 * 2 * atOnce) / (await sendRecords(2 * atOnce, atOnce)));
        return elapsedMs / recordsPerRound;
      },
      baseline: async () =>
        (await bare.call('store', { records: recordsPerRound }, Type.Number())) / recordsPerRound,
    });
    const kilobytes = (bytes: Buffer): string => `${(bytes.length / 1000).toFixed(0)} kB`;
    return {
      ...medians,
      unit: 'ms',
      targets: [],
      notes: [
        `one after the other ${(1000 / medians.figure).toFixed(2)} records/s, ${atOnce} at a time ${median(perSecond).toFixed(2)} records/s; the baseline ${(1000 / medians.baseline).toFixed(2)}`,
        `a tree has ${kilobytes(sampleCaptures.tree)}, a picture ${kilobytes(sampleCaptures.screenshot)}`,
        `processor time of the server for one record: ${median(cpuMs).toFixed(0)} ms`,
      ],
    };
  },
};
