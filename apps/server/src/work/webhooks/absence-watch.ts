import type { WebhookData } from '@phalanx/protocol';
import type { Clock } from '../../kernel/clock.ts';
import type { DeviceAccess } from '../../fleet/devices/device-access.ts';
import type { FleetDevice } from '../../fleet/devices/fleet-device.ts';
import type { Audience } from '../../storage/db/webhook-outbox.ts';
import type { KnownHost, KnownHosts } from '../../fleet/hosts/known-hosts.ts';
import type { AbsenceStore, StoredAbsence } from './absence-store.ts';
import type { DeliveryEvent } from './delivery-store.ts';
import { readTexts } from './fan-out.ts';
import type { StoredWebhook } from './store.ts';
import { minuteMs } from '@phalanx/timing/durations';

interface Options {
  store: AbsenceStore;
  devices: DeviceAccess;
  hosts: KnownHosts;
  clock: Clock;
  /** Time since which the service has been running, epoch ms. Before that, it saw no phones and hosts. */
  upSince: () => Promise<number>;
  /** Maximum time for which a host may be disconnected, ms. */
  hostAwayMs: number;
}

/** Current state of a phone or a host. */
interface Seen {
  readonly kind: 'device' | 'host';
  readonly id: string;
  /** Time since which it has been absent, epoch ms; undefined when it is present. */
  readonly awaySince: number | undefined;
  /** Whether its host is changing servers or has just connected. Its known state stays unchanged for this time. */
  readonly isReturning: boolean;
  readonly audience: Audience;
  readonly goneEvent: (since: number) => Pick<DeliveryEvent, 'type' | 'data'>;
  readonly backEvent: (since: number) => Pick<DeliveryEvent, 'type' | 'data'>;
}

interface Changes {
  begun: StoredAbsence[];
  reported: StoredAbsence[];
  ended: StoredAbsence[];
  events: DeliveryEvent[];
}

/** Webhook with its known absences. `unseen` keeps those whose phone or host is not listed any more. */
interface Watcher {
  readonly webhook: StoredWebhook;
  readonly known: ReadonlyMap<string, StoredAbsence>;
  readonly unseen: Map<string, StoredAbsence>;
}

const hostsAtOnce = 250;
const keyOf = (kind: StoredAbsence['kind'], id: string): string => `${kind} ${id}`;

/**
 * Finds phones that have not been ready, and hosts that have been disconnected, for longer than webhooks allow, and
 * those that are back.
 */
export class AbsenceWatch {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Checks for changes. Only one server does so at a time. */
  async look(): Promise<void> {
    const webhooks = await this.#options.store.listWatching('device.', 'host.');
    if (webhooks.length === 0) return;
    const upSince = await this.#options.upSince();
    for (const [userId, ofUser] of Map.groupBy(webhooks, ({ user_id: id }) => id)) {
      const watchers = await Promise.all(ofUser.map((webhook) => this.#watcherOf(webhook)));
      for await (const seen of this.#listSeen(userId, upSince))
        for (const watcher of watchers) await this.#compare(watcher, seen);
      for (const { webhook, unseen } of watchers)
        await this.#note(webhook, { begun: [], reported: [], ended: [...unseen.values()], events: [] });
    }
  }

  async #watcherOf(webhook: StoredWebhook): Promise<Watcher> {
    const rows = await this.#options.store.list(webhook.id, ['device', 'host']);
    const known = new Map(rows.map((row) => [keyOf(row.kind, row.target_id), row]));
    return { webhook, known, unseen: new Map(known) };
  }

  /** Lists the user's own and accepted phones, and their own hosts, in pages. */
  async *#listSeen(userId: string, upSince: number): AsyncGenerator<Seen[]> {
    const { devices, hosts } = this.#options;
    for await (const page of devices.listForWork(userId))
      yield page.map(({ device }) => seenDevice(device, upSince));
    for (let from: string | undefined = ''; from !== undefined;) {
      const page: KnownHost[] = await hosts.listPageOf(userId, { from, limit: hostsAtOnce });
      yield page.map((host) => seenHost(host, upSince));
      const last: string | undefined = page.at(-1)?.id.toLowerCase();
      from = page.length < hostsAtOnce || last === undefined ? undefined : `${last}\u0001`;
    }
  }

  async #compare(watcher: Watcher, seen: readonly Seen[]): Promise<void> {
    const { webhook, known, unseen } = watcher;
    const changes: Changes = { begun: [], reported: [], ended: [], events: [] };
    const events = readTexts(webhook.events);
    for (const one of seen) {
      const key = keyOf(one.kind, one.id);
      unseen.delete(key);
      if (!one.isReturning) this.#compareOne(changes, { webhook, events, one, absence: known.get(key) });
    }
    await this.#note(webhook, changes);
  }

  #compareOne(changes: Changes, { webhook, events, one, absence }: Comparison): void {
    const now = this.#options.clock.now();
    const { kind, awaySince } = one;
    const addEvent = (event: string, reported: Pick<DeliveryEvent, 'type' | 'data'>): void => {
      if (events.includes(event))
        changes.events.push({ ...reported, at: now, audience: JSON.stringify(one.audience) });
    };
    if (awaySince === undefined) {
      if (absence === undefined) return;
      changes.ended.push(absence);
      if (absence.is_told === 1)
        addEvent(kind === 'device' ? 'device.back' : 'host.back', one.backEvent(absence.since));
      return;
    }
    const row = absence ?? newAbsence(webhook, one, awaySince);
    if (absence === undefined) changes.begun.push(row);
    const lateAt = row.since + this.#allowedMsOf(webhook, kind);
    if (row.is_told === 1 || lateAt > now) return;
    changes.reported.push(row);
    // An absence that exceeded the limit before the webhook listened is not reported.
    if (lateAt >= webhook.heard_since)
      addEvent(kind === 'device' ? 'device.not_ready' : 'host.gone', one.goneEvent(row.since));
  }

  #allowedMsOf({ not_ready_minutes: minutes }: StoredWebhook, kind: StoredAbsence['kind']): number {
    return kind === 'device' ? minutes * minuteMs : this.#options.hostAwayMs;
  }

  async #note(webhook: StoredWebhook, changes: Changes): Promise<void> {
    const { store, clock } = this.#options;
    if (Object.values(changes).every(({ length }) => length === 0)) return;
    await store.note(webhook, changes, clock.now());
  }
}

interface Comparison {
  webhook: StoredWebhook;
  events: readonly string[];
  one: Seen;
  absence: StoredAbsence | undefined;
}

const newAbsence = ({ id }: StoredWebhook, { kind, id: target }: Seen, since: number): StoredAbsence => ({
  webhook_id: id,
  kind,
  target_id: target,
  since,
  is_told: 0,
});

function seenDevice(device: FleetDevice, upSince: number): Seen {
  const { id, state, reason, since, isReturning, serial } = device;
  const { model, host_id, host_name } = device.stored;
  const about = { device_id: id, serial, model, host_id, host_name };
  return {
    kind: 'device',
    id,
    audience: { kind: 'device', deviceId: id },
    awaySince: state === 'ready' ? undefined : Math.max(since, upSince),
    isReturning,
    goneEvent: (goneSince) => eventOf('device.not_ready', { ...about, state, reason, since: goneSince }),
    backEvent: (goneSince) => eventOf('device.back', { ...about, not_ready_since: goneSince }),
  };
}

function seenHost({ id, ownerId, name, isConnected, since }: KnownHost, upSince: number): Seen {
  const about = { host_id: id, host_name: name };
  return {
    kind: 'host',
    id: id.toLowerCase(),
    audience: { kind: 'user', userId: ownerId },
    awaySince: isConnected ? undefined : Math.max(since ?? 0, upSince),
    isReturning: false,
    goneEvent: (goneSince) => eventOf('host.gone', { ...about, since: goneSince }),
    backEvent: (goneSince) => eventOf('host.back', { ...about, gone_since: goneSince }),
  };
}

const eventOf = <Name extends 'device.not_ready' | 'device.back' | 'host.gone' | 'host.back'>(
  type: Name,
  data: WebhookData<Name>,
): Pick<DeliveryEvent, 'type' | 'data'> => ({ type, data: JSON.stringify(data) });
