/**
 * Figure: the overhead of the product's driver for `screen.content` through the resident helper, for a screen of 302
 * nodes that differs at each reading: queue, limits, and the tree as objects. Baseline: the same frame requested on
 * the bare stream, whose reply is not parsed. The second row reads an unchanging screen, for which the helper replies
 * `SAME`.
 *
 * Fair because each uses its own simulated phone in another process, alternately, and the phone takes the same time
 * for both. Both go through Debian's adbd where `npm run set-up:tests` has installed it.
 */
import { Type } from 'typebox';

import { foundAdbdRoot } from '../../scripts/test-components.ts';
import { interleave } from '../harness/rounds.ts';
import type { Row, RowResult } from '../harness/row.ts';
import type { Stage } from '../harness/stage.ts';

const rounds = 7;
const count = 100;
const nodes = 302;

interface Opened {
  readonly phones: Awaited<ReturnType<Stage['start']>>;
  readonly time: (by: 'driver' | 'bare') => Promise<number>;
  readonly notes: string[];
}

async function open(stage: Stage, what: 'tree' | 'touch'): Promise<Opened> {
  const phones = await stage.start('phones');
  const adbdRoot = foundAdbdRoot();
  const wanted = { count: 2, roundTripMs: 0, nodes, ...(adbdRoot === undefined ? {} : { adbdRoot }) };
  const ports = await phones.call('start', wanted, Type.Array(Type.Integer()));
  const driver = await stage.start('driver');
  await driver.call('openResident', { ports, dataDir: await stage.folder() }, Type.Unknown());
  const time = (by: 'driver' | 'bare'): Promise<number> =>
    driver.call('time', { by, what, count }, Type.Number());
  return { phones, time, notes: [adbdRoot === undefined ? 'without a real adbd' : "through Debian's adbd"] };
}

async function measure(
  stage: Stage,
  { changes, max }: { changes: boolean; max: number },
): Promise<RowResult> {
  const { phones, time, notes } = await open(stage, 'tree');
  await phones.call('showLarge', { changes }, Type.Unknown());
  const { figure, baseline } = await interleave({
    rounds,
    figure: () => time('driver'),
    baseline: () => time('bare'),
  });
  await phones.call('stop', {}, Type.Unknown());
  return {
    figure: figure - baseline,
    baseline,
    unit: 'ms',
    targets: [{ of: 'figure', bound: 'at most', value: max }],
    notes: [`${figure.toFixed(2)} ms through the driver`, ...notes],
  };
}

/** Measures a tap on a node of an unchanging screen, against the frames for a reading and a tap. */
async function measureTouch(stage: Stage): Promise<RowResult> {
  const { phones, time, notes } = await open(stage, 'touch');
  const measured = await interleave({
    rounds,
    figure: () => time('driver'),
    baseline: () => time('bare'),
  });
  await phones.call('stop', {}, Type.Unknown());
  return { ...measured, unit: 'ms', targets: [{ of: 'ratio', bound: 'at most', value: 1.3 }], notes };
}

export const residentScreens: readonly Row[] = [
  {
    name: 'resident-touch',
    title: 'a tap on a node by the resident helper, with its look',
    against: 'the frames for a look and a tap on the bare stream',
    measure: measureTouch,
  },
  {
    name: 'resident-screen',
    title: 'what the driver adds to a screen of 302 nodes from the resident helper',
    against: 'the frame on the bare stream',
    measure: (stage) => measure(stage, { changes: true, max: 1 }),
  },
  {
    name: 'resident-same',
    title: 'what the driver adds to a screen that stays, from the resident helper',
    against: 'the frame on the bare stream',
    measure: (stage) => measure(stage, { changes: false, max: 0.7 }),
  },
];
