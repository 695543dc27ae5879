import type { SelectorTerm } from '@phalanx/protocol';
import type { DeviceAccess, SeenDevice } from '../../fleet/devices/device-access.ts';
import type { RunsByDevice } from '../../fleet/devices/device-view.ts';
import type { FleetDevice } from '../../fleet/devices/fleet-device.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { readSelector, selects } from '../../fleet/devices/labels/phone-labels.ts';
import type { SecretGrants } from '../../code/secrets/secret-grants.ts';

export interface PhoneSources {
  readonly access: DeviceAccess;
  readonly activeRunRows: RunsByDevice;
  readonly grants: Pick<SecretGrants, 'findReceivers'>;
}

/** Phones that a user requests for a project. */
export interface PhoneChoice {
  readonly userId: string;
  readonly projectId: string;
  /** Null matches any phone. */
  readonly selector: string | null;
  /** Restricts the choice to these phones. Undefined: the user's own phones and the accepted shared ones. */
  readonly deviceIds?: readonly string[] | undefined;
  /** Number of phones. Undefined: every free phone. */
  readonly count?: number | undefined;
}

/** Counts of the phones that match a selector: free phones, and the others by the obstacle that blocks a run. */
export interface PhoneCounts {
  readonly free: number;
  readonly busy: number;
  readonly leased: number;
  /** Phones that are not ready, for any reason. */
  readonly unready: number;
  /** Phones whose hosts are not granted the project's secrets. */
  readonly withheld: number;
  /** Phones shared with the user and not accepted yet. */
  readonly waiting: number;
}

type Obstacle = Exclude<keyof PhoneCounts, 'free' | 'waiting'>;

interface FoundPhone {
  readonly device: FleetDevice;
  readonly obstacle: Obstacle | undefined;
}

/** Lists the chosen phones that the user may launch on, each with its obstacle. */
export async function listSelected(sources: PhoneSources, choice: PhoneChoice): Promise<FoundPhone[]> {
  const { access, activeRunRows, grants } = sources;
  const terms = termsOf(access, choice);
  const found: FleetDevice[] = [];
  for await (const seen of listCandidates(access, choice))
    for (const { device, role } of seen)
      if (role !== 'view' && selects(access.labels, terms, device)) found.push(device);
  const running = await activeRunRows.mapByDevice(found.map(({ id }) => id));
  const receivers = await grants.findReceivers(choice.projectId);
  const obstacleOf = (device: FleetDevice): Obstacle | undefined => {
    if (receivers?.has(device.ownerId) === false) return 'withheld';
    if (device.state !== 'ready') return 'unready';
    if (running.has(device.id)) return 'busy';
    return access.leases.findOther(device, choice.userId) === undefined ? undefined : 'leased';
  };
  return found.map((device) => ({ device, obstacle: obstacleOf(device) }));
}

const termsOf = ({ labels }: DeviceAccess, { userId, selector }: PhoneChoice): readonly SelectorTerm[] =>
  selector === null ? [] : readSelector(labels, userId, selector);

async function* listCandidates(
  access: DeviceAccess,
  { userId, deviceIds }: PhoneChoice,
): AsyncGenerator<SeenDevice[]> {
  if (deviceIds === undefined) yield* access.listForWork(userId);
  else yield [...(await access.findAll(deviceIds, userId)).values()];
}

/** Counts the found phones by obstacle. Also counts the matching shared phones that the user has not accepted yet. */
export async function countPhones(
  { access }: Pick<PhoneSources, 'access'>,
  choice: PhoneChoice,
  found: readonly FoundPhone[],
): Promise<PhoneCounts> {
  const terms = termsOf(access, choice);
  const isWanted = (device: FleetDevice): boolean => selects(access.labels, terms, device);
  const waiting = choice.deviceIds === undefined ? await access.countWaiting(choice.userId, isWanted) : 0;
  const count = (obstacle: Obstacle | undefined): number =>
    found.filter((one) => one.obstacle === obstacle).length;
  return {
    free: count(undefined),
    busy: count('busy'),
    leased: count('leased'),
    unready: count('unready'),
    withheld: count('withheld'),
    waiting,
  };
}

/** Describes the counts, for example "of 5 phones that fit, 3 are busy and 1 is not ready". */
export function describePhones({ free, busy, leased, unready, withheld, waiting }: PhoneCounts): string {
  const total = free + busy + leased + unready + withheld;
  const part = (count: number, what: string): string[] =>
    count === 0 ? [] : [`${count} ${count === 1 ? 'is' : 'are'} ${what}`];
  const parts = [
    ...part(free, 'free'),
    ...part(busy, 'busy'),
    ...part(leased, 'controlled by hand'),
    ...part(unready, 'not ready'),
    ...part(withheld, 'at hosts that get no secrets of the project'),
  ];
  const found =
    total === 0
      ? 'no phone fits'
      : `of ${total} phone${total === 1 ? '' : 's'} that fit, ${parts.join(', ')}`;
  return waiting === 0 ? found : `${found}; ${waitingText(waiting)}`;
}

const waitingText = (count: number): string =>
  count === 1
    ? '1 more is shared with you, and chosen once you accept it (GET /api/v2/shares, "phalanx shares")'
    : `${count} more are shared with you, and chosen once you accept them (GET /api/v2/shares, "phalanx shares")`;

/** Returns the IDs of as many free phones as requested. Throws `too_few_devices`. */
export async function chooseFree(
  sources: PhoneSources,
  choice: PhoneChoice & { readonly selector: string },
): Promise<string[]> {
  const found = await listSelected(sources, choice);
  const free = found.filter(({ obstacle }) => obstacle === undefined).map(({ device }) => device.id);
  const wanted = choice.count ?? Math.max(1, free.length);
  if (free.length >= wanted) return free.slice(0, wanted);
  const { selector } = choice;
  const reason = describePhones(await countPhones(sources, choice, found));
  throw ApiError.of('too_few_devices', { selector, wanted, free: free.length, reason });
}
