/**
 * Figure: the mean time of one call through the product's driver: queue, limits, HTTP, and the reply as objects.
 * Baseline: the same request on a persistent socket over the same ADB library, whose reply is only counted. A tap on
 * a node reads the active window and the list of windows first; its baseline requests the former and taps.
 *
 * Fair because each uses its own simulated phone in another process, alternately, and the phone takes the same time
 * for both. `screen` and `tap` go through Debian's adbd where `npm run set-up:tests` has installed it. `far-…` have a
 * latency of 20 ms between host and phone, so that a second round trip would double the time.
 */
import { Type } from 'typebox';

import { foundAdbdRoot } from '../../scripts/test-components.ts';
import { interleave } from '../harness/rounds.ts';
import type { Row, RowResult } from '../harness/row.ts';
import type { Stage } from '../harness/stage.ts';

interface Calls {
  readonly name: string;
  readonly title: string;
  readonly what: 'tree' | 'tap' | 'touch';
  /** Name of the baseline. Default: the same request on a bare socket. */
  readonly against?: string;
  readonly roundTripMs: number;
  /** Whether a real adbd stands before the phones, if installed. */
  readonly throughAdbd: boolean;
  /** Number of nodes of the tree; 0: the home screen. */
  readonly nodes: number;
  readonly count: number;
  /** Maximum of the ratio. */
  readonly max: number | undefined;
}

const rounds = 7;

async function measure(stage: Stage, calls: Calls): Promise<RowResult> {
  const phones = await stage.start('phones');
  const { roundTripMs, nodes, what, count } = calls;
  const adbdRoot = calls.throughAdbd ? foundAdbdRoot() : undefined;
  const wanted = { count: 2, roundTripMs, nodes, ...(adbdRoot === undefined ? {} : { adbdRoot }) };
  const ports = await phones.call('start', wanted, Type.Array(Type.Integer()));
  const driver = await stage.start('driver');
  const opening = { ports, dataDir: await stage.folder(), isLarge: nodes > 0 };
  await driver.call('open', opening, Type.Unknown());
  const time = (by: 'driver' | 'bare'): Promise<number> =>
    driver.call('time', { by, what, count }, Type.Number());
  const measured = await interleave({
    rounds,
    figure: () => time('driver'),
    baseline: () => time('bare'),
  });
  await phones.call('stop', {}, Type.Unknown());
  const notes = roundTripMs === 0 ? [] : [`round trips: ${(measured.figure / roundTripMs).toFixed(2)}`];
  if (calls.throughAdbd) notes.push(adbdRoot === undefined ? 'without a real adbd' : "through Debian's adbd");
  const { max } = calls;
  const targets = max === undefined ? [] : [{ of: 'ratio', bound: 'at most', value: max } as const];
  return { ...measured, unit: 'ms', targets, notes };
}

const rowOf = (calls: Calls): Row => ({
  name: calls.name,
  title: calls.title,
  against: calls.against ?? 'the same request on a bare socket',
  measure: (stage) => measure(stage, calls),
});

const near = { throughAdbd: false, roundTripMs: 0, nodes: 0, count: 200, max: 1.3 };
const far = { throughAdbd: false, roundTripMs: 20, nodes: 0, count: 20, max: 1.3 };

const touch = { what: 'touch', against: 'the requests for a look and a tap on a bare socket' } as const;

export const driverCalls: readonly Row[] = [
  rowOf({
    ...near,
    throughAdbd: true,
    name: 'screen',
    what: 'tree',
    title: 'screen.content through the driver',
  }),
  rowOf({ ...near, throughAdbd: true, name: 'tap', what: 'tap', title: 'a tap through the driver' }),
  rowOf({ ...near, ...touch, throughAdbd: true, name: 'touch', title: 'a tap on a node, with its look' }),
  rowOf({ ...far, ...touch, name: 'far-touch', title: 'a tap on a node over a cable of 20 ms' }),
  rowOf({ ...far, name: 'far-screen', what: 'tree', title: 'screen.content over a cable of 20 ms' }),
  rowOf({ ...far, name: 'far-tap', what: 'tap', title: 'a tap over a cable of 20 ms' }),
  rowOf({
    ...near,
    count: 10,
    max: undefined,
    nodes: 1500,
    name: 'large-screen',
    what: 'tree',
    title: 'screen.content of 1,500 nodes',
  }),
];
