/**
 * Figure: the processor time of the server and its processes for grouping a record of 50 screens; compared with their
 * total for a record that is not grouped. The last screen of each record is new, so that its fingerprint is computed
 * and compared with those of all existing groups.
 *
 * Fair because both records have the same screens and captures, and are sent alternately: a debug record differs only
 * in its type. The groups of both are requested; one of them until it has one.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Type } from 'typebox';

import { interleave } from '../harness/rounds.ts';
import type { Row, RowResult } from '../harness/row.ts';
import type { Stage } from '../harness/stage.ts';
import { ask, launchOnEach, listDeviceIds } from '../http/api.ts';
import { startServerWithHosts } from './server-with-hosts.ts';

const recordsPerRound = 10;
const rounds = 7;
const pauseMs = 100;
/** Time in ms for work after the reply. */
const restMs = 500;

const Place = Type.Object({ group_id: Type.Union([Type.String(), Type.Null()]) });

export const grouping: Row = {
  name: 'grouping',
  title: 'processor time that the group of a record of 50 screens costs the server',
  against: 'the record without its group',
  async measure(stage: Stage): Promise<RowResult> {
    const { api, server, hosts } = await startServerWithHosts(stage, { hosts: 1, devicesPerHost: 1 });
    await launchOnEach(api, await listDeviceIds(api));
    const cpuMs = (): Promise<number> => server.call('cpuMsOfAll', {}, Type.Number());
    const isGrouped = async (id: string): Promise<boolean> => {
      await sleep(pauseMs);
      return (await ask(api, `/api/v2/automation-project/out-of-steps/${id}/group`, Place)).group_id !== null;
    };
    const costOf = async (type: 'outOfSteps' | 'debug'): Promise<number> => {
      const before = await cpuMs();
      for (let count = 0; count < recordsPerRound; count += 1) {
        const id = await hosts.call('sendRecord', { ...api, type }, Type.String());
        if (type === 'debug') await isGrouped(id);
        else while (!(await isGrouped(id)));
      }
      await sleep(restMs);
      return ((await cpuMs()) - before) / recordsPerRound;
    };
    const { figure, baseline } = await interleave({
      rounds,
      figure: () => costOf('outOfSteps'),
      baseline: () => costOf('debug'),
    });
    return {
      figure: figure - baseline,
      baseline,
      unit: 'ms',
      targets: [{ of: 'figure', bound: 'at most', value: 60 }],
      notes: [`${figure.toFixed(0)} ms a record with its group, ${baseline.toFixed(0)} ms one without`],
    };
  },
};
