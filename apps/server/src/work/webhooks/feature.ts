import { addBackgroundJob } from '../../storage/background-job.ts';
import type { Context } from '../../http/context.ts';
import type { Audience } from '../../storage/db/webhook-outbox.ts';
import type { DeviceAccess } from '../../fleet/devices/device-access.ts';
import { addGaugeBy, type Metrics } from '../../http/health/metrics.ts';
import { consoleUrl } from '../../http/requests/addresses.ts';
import type { Hosts } from '../../fleet/hosts/feature.ts';
import type { ProjectPeople } from '../../code/projects/project-access.ts';
import type { Records } from '../../evidence/records/feature.ts';
import type { Runs } from '../../runs/runs/feature.ts';
import type { SealedColumn, Sealing } from '../../code/secrets/sealing.ts';
import { createAbsenceStore } from './absence-store.ts';
import { createRunWatchStore } from './run-watch-store.ts';
import { AbsenceWatch } from './absence-watch.ts';
import { RunWatch } from './run-watch.ts';
import { FanOut } from './fan-out.ts';
import { recipientsOf } from './audience.ts';
import { createAttemptStore } from './attempt-store.ts';
import { createDeliveryStore } from './delivery-store.ts';
import { claimMs, DeliveryMaker, places } from './delivery-maker.ts';
import { Messenger } from './messenger.ts';
import { createNames } from './names.ts';
import { addWebhookRoutes } from './routes.ts';
import { createWebhookStore, sealedWebhookKeys } from './store.ts';
import { createTargetRule } from './target-rule.ts';
import { hourMs, dayMs, minuteMs } from '@phalanx/timing/durations';

interface WebhookDependencies {
  devices: DeviceAccess;
  hosts: Hosts;
  people: ProjectPeople;
  records: Records;
  runs: Runs;
  sealing: Sealing;
  metrics: Metrics;
}

/** Encrypted keys of webhooks. */
export const sealedByWebhooks = ({ database }: Context): SealedColumn => sealedWebhookKeys(database);

/** Serves webhooks: messages to other services about events. */
export function serveWebhooks(context: Context, dependencies: WebhookDependencies): void {
  const { app, access, config, database, clock, faults, node, timing } = context;
  const { devices, hosts, people, records, runs, sealing, metrics } = dependencies;
  const store = createWebhookStore(database);
  const deliveries = createDeliveryStore(database);
  const rule = createTargetRule(config.webhookNetworks);
  const { listAcceptedReviewers } = records;
  const audienceSources = { devices, people, runAccess: runs.access, listAcceptedReviewers };
  const listRecipients = (audience: Audience): Promise<string[]> => recipientsOf(audienceSources, audience);
  const findUser = (id: string) => access.store.findUser(id);
  const nameOf = (userId: string): string => devices.shares.nameOf(userId);
  const names = createNames(devices, {
    consoleUrl: () => consoleUrl(config, app),
    publicUrl: config.publicUrl,
  });
  const { mail } = config;
  const messenger = new Messenger({
    store,
    sealing,
    listRecipients,
    findUser,
    rule,
    mail,
    names,
    clock,
    findToken: (id) => access.store.findToken(id),
  });
  const fanOut = new FanOut({ store: deliveries, listRecipients, clock });
  context.workers.add({
    kind: 'tell webhooks',
    places: { all: 1, lane: 1 },
    itemsOfClaim: 100,
    claimMs: minuteMs,
    work: (claim) => fanOut.fanOut(claim),
  });
  const maker = new DeliveryMaker({
    store: createAttemptStore(database),
    clock,
    faults,
    send: (claimed, signal) => messenger.send(claimed, signal),
  });
  context.workers.add({
    kind: 'send webhook messages',
    places,
    claimMs,
    work: (claim, signal) => maker.make(claim, signal),
  });
  addWebhookRoutes(app, { store, deliveries, sealing, rule, mail, clock, nameOf });
  addGaugeBy(metrics, {
    name: 'phalanx_webhook_messages',
    label: 'state',
    help: 'Webhook messages that wait to be sent, and events that are not yet turned into messages, for all servers',
    read: () => deliveries.countWaiting(),
  });
  const absences = createAbsenceStore(database);
  const watch = new AbsenceWatch({
    store: absences,
    devices,
    hosts: hosts.known,
    clock,
    hostAwayMs: config.lostAfterMs,
    upSince: () => node.upSince(),
  });
  addBackgroundJob(context, {
    name: 'notify webhooks of phones and hosts that are away',
    everyMs: 2 * timing.sweepMs,
    work: () => watch.look(),
  });
  const runWatch = new RunWatch({
    store: absences,
    runs: createRunWatchStore(database),
    clock,
  });
  addBackgroundJob(context, {
    name: 'notify webhooks of runs that fail or are missing',
    everyMs: 6 * timing.sweepMs,
    work: () => runWatch.look(),
  });
  addBackgroundJob(context, {
    name: 'delete old deliveries of webhooks',
    everyMs: hourMs,
    atStart: true,
    work: () => deliveries.deleteOld(clock.now() - config.historyDays * dayMs),
  });
}
