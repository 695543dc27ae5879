import { reachesProject } from '../../http/requests/policy.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { statsRoutes, ReplyOf, StatsGrouping, Stat } from '@phalanx/protocol';
import type { DeviceAccess } from '../../fleet/devices/device-access.ts';
import type { DayStat, StatsStore } from './store.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { FleetDevice } from '../../fleet/devices/fleet-device.ts';
import type { Principal } from '../../http/requests/principal.ts';
import { readSelector, selects } from '../../fleet/devices/labels/phone-labels.ts';
import { TimeSlice } from '../../kernel/limits/time-slice.ts';
import type { RunAccess } from '../runs/run-access.ts';
import { dayMs } from '@phalanx/timing/durations';

export const outcomes = ['succeeded', 'out_of_steps', 'failed', 'timed_out', 'lost', 'stopped'] as const;

interface StatsSources {
  readonly store: StatsStore;
  readonly devices: DeviceAccess;
  readonly runAccess: Pick<RunAccess, 'listOtherDevicesForWork'>;
  readonly clock: Clock;
}

interface StatsQuestion {
  readonly by?: StatsGrouping;
  readonly days?: number;
  readonly automation_id?: string;
  readonly selector?: string;
}

export type Stats = ReplyOf<typeof statsRoutes.read>;

const defaultDays = 30;
/** Shared key of all runs of direct code, whose launch IDs differ. */
const directKey = 'direct';

/** Groups that rows are counted under. A row may belong to several groups, such as pools. */
interface Groups {
  /** Groups that are reported even without runs, with the number of phones of each. Undefined: all phones. */
  readonly known: ReadonlyMap<string, { name: string; phones: number | undefined }>;
  keysOf(row: DayStat, day: number): readonly string[];
}

/** Adds up the daily counts; the run history itself is not read. */
export async function readStats(
  sources: StatsSources,
  principal: Principal,
  question: StatsQuestion,
): Promise<Stats> {
  const { store, runAccess, clock } = sources;
  const { by = 'automation', days = defaultDays } = question;
  const now = clock.now();
  const [first, last] = [Math.floor(now / dayMs) - days + 1, Math.floor(now / dayMs)];
  const phones = await listPhones(sources, principal, question.selector);
  const groups = await groupsOf(sources, principal.userId, { by, phones, first, last });
  const isCounted = filterOf(principal, question, phones);
  const { userId } = principal;
  const audience = { userId, otherDeviceIds: await runAccess.listOtherDevicesForWork(userId) };
  const total = new Sum();
  const sums = new Map([...groups.known.keys()].map((key) => [key, new Sum()]));
  const names = new Map([...groups.known].map(([key, { name }]) => [key, name]));
  for (let day = first; day <= last; day += 1) {
    for (const row of (await store.listOfDay(day, audience)).filter(isCounted)) {
      total.add(row);
      for (const key of groups.keysOf(row, day)) {
        const sum = sums.get(key) ?? new Sum();
        sum.add(row);
        sums.set(key, sum);
        if (by === 'automation') names.set(key, row.name || names.get(key) || 'Direct code');
      }
    }
    // SQLite queries never yield to the event loop.
    await nextTurn();
  }
  const period = now - first * dayMs;
  const stats = [...sums].map(([key, sum]) => {
    const count = groups.known.get(key)?.phones ?? (by === 'device' ? 1 : phones.length);
    const time = by === 'day' ? Math.min(dayMs, now - Date.parse(key)) : period;
    return sum.toStat(key, names.get(key) ?? key, count * time);
  });
  return {
    success: true,
    from: first * dayMs,
    until: now,
    by,
    total: total.toStat('total', 'Total', phones.length * period),
    stats: by === 'day' ? stats : stats.toSorted((one, other) => other.runs - one.runs),
  };
}

/** Lists the phones that match the selector, among the user's own and the accepted shared ones. */
async function listPhones(
  { devices }: StatsSources,
  { userId }: Principal,
  selector: string | undefined,
): Promise<FleetDevice[]> {
  const terms = selector === undefined ? [] : readSelector(devices.labels, userId, selector);
  const found: FleetDevice[] = [];
  for await (const seen of devices.listForWork(userId))
    for (const { device } of seen) if (selects(devices.labels, terms, device)) found.push(device);
  return found;
}

function filterOf(
  principal: Principal,
  { automation_id, selector }: StatsQuestion,
  phones: readonly FleetDevice[],
): (row: DayStat) => boolean {
  const wanted = automation_id === directKey ? '' : automation_id?.toLowerCase();
  const ids = selector === undefined ? undefined : new Set(phones.map(({ id }) => id));
  return (row) =>
    reachesProject(principal, row.automation_id) &&
    (wanted === undefined || row.automation_id === wanted) &&
    ids?.has(row.device_id) !== false;
}

interface Grouping {
  by: StatsGrouping;
  phones: readonly FleetDevice[];
  first: number;
  last: number;
}

async function groupsOf(
  sources: StatsSources,
  userId: string,
  { by, phones, first, last }: Grouping,
): Promise<Groups> {
  const none: Pick<Groups, 'known'> = { known: new Map() };
  switch (by) {
    case 'automation':
      return { ...none, keysOf: (row) => [row.automation_id || directKey] };
    case 'reason':
      return {
        ...none,
        keysOf: ({ outcome, reason }) => (outcome === 'succeeded' ? [] : [reason || outcome]),
      };
    case 'day': {
      const all = Array.from({ length: last - first + 1 }, (_, at) => dayText(first + at));
      return {
        known: new Map(all.map((day) => [day, { name: day, phones: undefined }])),
        keysOf: (_, day) => [dayText(day)],
      };
    }
    case 'device':
      return {
        known: new Map(phones.map((device) => [device.id, { name: phoneName(sources, device), phones: 1 }])),
        keysOf: (row) => [row.device_id],
      };
    default:
      return poolGroups(sources, userId, phones);
  }
}

async function poolGroups(
  { devices: { labels } }: StatsSources,
  userId: string,
  phones: readonly FleetDevice[],
): Promise<Groups> {
  const poolsOf = new Map<string, string[]>();
  const known = new Map<string, { name: string; phones: number }>();
  const slice = new TimeSlice();
  for (const { name, selector } of labels.listPools(userId)) {
    const terms = readSelector(labels, userId, selector);
    let count = 0;
    for (const device of phones) {
      if (slice.isOver) await slice.next();
      if (!selects(labels, terms, device)) continue;
      poolsOf.set(device.id, [...(poolsOf.get(device.id) ?? []), name]);
      count += 1;
    }
    known.set(name, { name, phones: count });
  }
  return { known, keysOf: (row) => poolsOf.get(row.device_id) ?? [] };
}

const phoneName = ({ devices: { labels } }: StatsSources, device: FleetDevice): string =>
  labels.nameOf(device) || `${device.stored.model} ${device.serial}`;

const dayText = (day: number): string => new Date(day * dayMs).toISOString().slice(0, 10);

/** Accumulates counts of runs. */
class Sum {
  #runs = 0;
  #started = 0;
  #runMs = 0;
  #waitMs = 0;
  readonly #outcomes = new Map<Stat['outcomes'][number]['outcome'], number>();
  readonly #reasons = new Map<string, number>();

  add({ outcome, reason, runs, started, run_ms, wait_ms }: DayStat): void {
    this.#runs += runs;
    this.#started += started;
    this.#runMs += run_ms;
    this.#waitMs += wait_ms;
    addTo(this.#outcomes, outcome, runs);
    if (outcome !== 'succeeded') addTo(this.#reasons, reason || outcome, runs);
  }

  /** Returns the totals. `phoneMs` is the time that the phones were available. */
  toStat(key: string, name: string, phoneMs: number): Stat {
    const judged = this.#runs - (this.#outcomes.get('stopped') ?? 0);
    return {
      key,
      name,
      runs: this.#runs,
      outcomes: sorted(this.#outcomes).map(([outcome, runs]) => ({ outcome, runs })),
      reasons: sorted(this.#reasons).map(([reason, runs]) => ({ reason, runs })),
      success_share: judged === 0 ? null : (this.#outcomes.get('succeeded') ?? 0) / judged,
      average_run_ms: this.#started === 0 ? null : Math.round(this.#runMs / this.#started),
      average_wait_ms: this.#runs === 0 ? null : Math.max(0, Math.round(this.#waitMs / this.#runs)),
      // Concurrent runs on one phone may add up to more than the available time.
      busy_share: phoneMs === 0 ? null : Math.min(1, Math.max(0, this.#runMs / phoneMs)),
    };
  }
}

function addTo<Key>(counts: Map<Key, number>, key: Key, runs: number): void {
  counts.set(key, (counts.get(key) ?? 0) + runs);
}

const sorted = <Key>(counts: ReadonlyMap<Key, number>): [Key, number][] =>
  [...counts].toSorted(([, one], [, other]) => other - one);
