import type { DeviceAccess } from '../devices/device-access.ts';
import type { FleetDevice } from '../devices/fleet-device.ts';
import { ApiError } from '../errors/api-error.ts';
import type { ActiveRunRows } from '../runs/active-run-rows.ts';
import { readSelector, selects } from '../devices/labels/phone-labels.ts';

export interface PhoneSources {
  readonly access: DeviceAccess;
  readonly activeRunRows: Pick<ActiveRunRows, 'mapByDevice'>;
}

/** Phones that a user asks for. */
export interface PhoneChoice {
  readonly userId: string;
  readonly selector: string;
  /** Undefined: as many as are free. */
  readonly count?: number | undefined;
}

/** Why phones that a selector finds take nothing now. */
export interface PhoneCounts {
  readonly free: number;
  readonly busy: number;
  readonly leased: number;
  /** Not ready, for whatever reason. */
  readonly unready: number;
}

/** The phones that the user may launch on, with what keeps each. */
export async function listSelected(
  { access, activeRunRows }: PhoneSources,
  { userId, selector }: PhoneChoice,
): Promise<{ device: FleetDevice; obstacle: Exclude<keyof PhoneCounts, 'free'> | undefined }[]> {
  const terms = readSelector(access.labels, userId, selector);
  const found: FleetDevice[] = [];
  for await (const seen of access.listAfter(userId, ''))
    for (const { device, role } of seen)
      if (role !== 'view' && selects(access.labels, terms, device)) found.push(device);
  const running = await activeRunRows.mapByDevice(found.map(({ id }) => id));
  const obstacleOf = (device: FleetDevice) => {
    if (device.state !== 'ready') return 'unready' as const;
    if (running.has(device.id)) return 'busy' as const;
    return access.leases.findOther(device, userId) === undefined ? undefined : ('leased' as const);
  };
  return found.map((device) => ({ device, obstacle: obstacleOf(device) }));
}

export function countPhones(found: Awaited<ReturnType<typeof listSelected>>): PhoneCounts {
  const count = (obstacle: keyof PhoneCounts): number =>
    found.filter((one) => (one.obstacle ?? 'free') === obstacle).length;
  return { free: count('free'), busy: count('busy'), leased: count('leased'), unready: count('unready') };
}

/** Such as "of 5 phones that fit, 3 are busy and 1 is not ready". */
export function describePhones({ free, busy, leased, unready }: PhoneCounts): string {
  const total = free + busy + leased + unready;
  if (total === 0) return 'no phone fits';
  const part = (count: number, what: string): string[] =>
    count === 0 ? [] : [`${count} ${count === 1 ? 'is' : 'are'} ${what}`];
  const parts = [
    ...part(free, 'free'),
    ...part(busy, 'busy'),
    ...part(leased, 'controlled by hand'),
    ...part(unready, 'not ready'),
  ];
  return `of ${total} phone${total === 1 ? '' : 's'} that fit, ${parts.join(', ')}`;
}

/** IDs of free phones: as many as wanted, or `too_few_devices`. */
export async function chooseFree(sources: PhoneSources, choice: PhoneChoice): Promise<string[]> {
  const found = await listSelected(sources, choice);
  const free = found.filter(({ obstacle }) => obstacle === undefined).map(({ device }) => device.id);
  const wanted = choice.count ?? Math.max(1, free.length);
  if (free.length >= wanted) return free.slice(0, wanted);
  const { selector } = choice;
  throw ApiError.of('too_few_devices', {
    ...{ selector, wanted, free: free.length, reason: describePhones(countPhones(found)) },
  });
}
