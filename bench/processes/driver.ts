import { pino } from 'pino';
import { Type } from 'typebox';

import type { TouchedNode, UiNode } from '@phalanx/protocol';

import type { Driver } from '../../apps/host/src/driver/driver.ts';
import { touchedOf } from '../../apps/host/src/driver/touch/find-touched.ts';
import { type PhoneWatch, watchPhones } from '../../apps/host/src/phones/watch-phones.ts';
import { openHostStore } from '../../apps/host/src/store/host-store.ts';
import { answerParent, command } from '../harness/answer-parent.ts';
import { countPackets } from '../phones/bare-video.ts';
import { BareHelper, openBareResident } from '../phones/bare-helper.ts';
import { largeApp } from '../phones/large-app.ts';
import { playerApp } from '../phones/player-app.ts';

type Call = () => Promise<unknown>;
type What = 'tree' | 'tap' | 'touch';

const log = pino({ level: 'error' });
/** Long intervals that suppress all calls except the measured ones. */
const quiet = { timings: { heartbeatMs: 600_000, healthMs: 600_000 } };
let driver: Driver | undefined;
let bareDriver: Driver | undefined;
let bare: BareHelper | undefined;
/** Same requests through the bare connection to the helper. */
let bareCalls: Readonly<Partial<Record<What, Call>>> = {};

async function driverOf(watch: PhoneWatch, serial: string): Promise<Driver> {
  const isReady = (): boolean => watch.find(serial)?.state.state === 'ready';
  await new Promise<void>((resolve) => {
    watch.onChange(() => isReady() && resolve());
    if (isReady()) resolve();
  });
  const found = watch.find(serial)?.driver();
  if (found === undefined) throw new Error(`there is no phone ${serial}`);
  return found;
}

async function meanMs(call: Call, count: number): Promise<number> {
  const beganAt = performance.now();
  for (let at = 0; at < count; at += 1) await call();
  return (performance.now() - beganAt) / count;
}

const tapAt = { x: 10, y: 900 };

function callOf(by: 'driver' | 'bare', what: What): Call {
  const [ours, theirs] = [driver, bareCalls[what]];
  if (ours === undefined || theirs === undefined) throw new Error('open comes first');
  if (by === 'bare') return theirs;
  if (what === 'tree') return () => ours.call('screen.content', {});
  if (what === 'tap') return () => ours.call('input.tap', tapAt);
  const node = on;
  if (node === undefined) throw new Error('open comes first');
  return () => ours.call('input.tap', { ...tapAt, on: node });
}

let on: TouchedNode | undefined;

/** Selects the node to touch: one without an effect, so that the screen stays the same. */
async function aimOn(one: Driver): Promise<void> {
  const { root } = await one.call('screen.content', {});
  on = touchedOf(findQuiet(root) ?? root);
}

function findQuiet(node: UiNode): UiNode | undefined {
  if (node.clickable) return undefined;
  if (node.text !== null && node.children.length === 0) return node;
  for (const child of node.children) {
    const found = findQuiet(child);
    if (found !== undefined) return found;
  }
  return undefined;
}

const scroll = { fromX: 540, toX: 540, durationMs: 300 };

/** Scrolls for a time, like the automation of the row. */
async function scrollFor(ours: Driver, durationMs: number): Promise<void> {
  const endsAt = performance.now() + durationMs;
  await ours.call('app.launch', { packageName: 'com.android.settings' });
  for (let isUp = false; performance.now() < endsAt; isUp = !isUp)
    await ours.call('input.swipe', { ...scroll, fromY: isUp ? 600 : 1800, toY: isUp ? 1800 : 600 });
}

answerParent({
  /** Opens the product's driver on the first phone and a bare socket on the second, both with their helpers. */
  open: command(
    Type.Object({ ports: Type.Array(Type.Integer()), dataDir: Type.String(), isLarge: Type.Boolean() }),
    async ({ ports, dataDir, isLarge }) => {
      const addresses = ports.map((port) => ({ host: '127.0.0.1', port }));
      const store = await openHostStore({ dir: dataDir, log });
      const watch = watchPhones({ addresses, dataDir, store, log, ...quiet });
      const drivers = [await driverOf(watch, 'phone-0'), await driverOf(watch, 'phone-1')];
      for (const one of drivers) if (isLarge) await one.call('app.launch', { packageName: largeApp });
      [driver, bareDriver] = drivers;
      const opened = await BareHelper.open(ports[1] ?? 0, dataDir);
      if (driver !== undefined) await aimOn(driver);
      bareCalls = {
        tree: () => opened.readTree(),
        tap: () => opened.tap(),
        touch: () => opened.readTree().then(() => opened.tap()),
      };
      bare = opened;
    },
  ),
  /** Opens the product's driver on the first phone and a bare stream on the second, both with resident helpers. */
  openResident: command(
    Type.Object({ ports: Type.Array(Type.Integer()), dataDir: Type.String() }),
    async ({ ports: [ours = 0, theirs = 0], dataDir }) => {
      const addresses = [{ host: '127.0.0.1', port: ours }];
      const store = await openHostStore({ dir: dataDir, log });
      const watch = watchPhones({ addresses, dataDir, store, log, helper: 'resident', ...quiet });
      driver = await driverOf(watch, 'phone-0');
      await aimOn(driver);
      bareCalls = await openBareResident(theirs, dataDir);
    },
  ),
  /** Counts the pictures per second that the helper itself makes while its screen scrolls, on a bare socket. */
  pictures: command(Type.Object({ durationMs: Type.Integer() }), async ({ durationMs }) => {
    if (driver === undefined || bare === undefined) throw new Error('open comes first');
    const counted = bare.countPictures(durationMs);
    await scrollFor(bareDriver ?? driver, durationMs);
    return (await counted) / (durationMs / 1000);
  }),
  /** Counts the packets of video per second that a phone itself sends while it plays, at the socket. */
  packets: command(
    Type.Object({ port: Type.Integer(), dataDir: Type.String(), durationMs: Type.Integer() }),
    async ({ port, dataDir, durationMs }) => {
      if (driver === undefined) throw new Error('open comes first');
      await (bareDriver ?? driver).call('app.launch', { packageName: playerApp });
      return (await countPackets(port, dataDir, durationMs)) / (durationMs / 1000);
    },
  ),
  time: command(
    Type.Object({
      by: Type.Enum(['driver', 'bare']),
      what: Type.Enum(['tree', 'tap', 'touch']),
      count: Type.Integer(),
    }),
    ({ by, what, count }) => meanMs(callOf(by, what), count),
  ),
});
