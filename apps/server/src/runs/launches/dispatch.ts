import { setTimeout as wait } from 'node:timers/promises';
import type { LaunchSecrets, PhoneSettings, ScreenMask } from '@phalanx/protocol';
import type { AuditLog } from '../../http/audit/audit-log.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Transaction } from '../../storage/db/database.ts';
import { EpochOver } from '../../storage/db/epochs.ts';
import type { Write } from '../../storage/db/writes.ts';
import { nameOf, type OnlineDevice } from '../../fleet/devices/online-devices.ts';
import type { ConnectedHosts } from '../../fleet/hosts/connected-hosts.ts';
import { userMark } from '../../fleet/hosts/user-mark.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { boundedList } from '../../kernel/errors/bounded-list.ts';
import type { AuditEvent } from '../../http/requests/audit-event.ts';
import { keptTokenOf, limitsTextOf } from '../../http/requests/kept-token.ts';
import { appLimitOf, type Principal } from '../../http/requests/principal.ts';
import { spendBudget } from '../../storage/db/token-use.ts';
import type { Turns } from '../../kernel/limits/turns.ts';
import type { Launchable } from '../../code/projects/project-files.ts';
import { activeRunOf, type ActiveRuns } from '../runs/active-runs.ts';
import type { RunStops } from '../runs/run-stops.ts';
import type { ProjectMatchers } from '../../code/secrets/project-matchers.ts';
import { keptCode, keptParameters, type StoredRun } from '../runs/stored-run.ts';
import { IncreasingIds } from '../../kernel/uuid-v7.ts';
import type { Bundle } from './bundles.ts';
import type { RunLimits } from './run-limits.ts';
import type { RunOutbox } from './run-outbox.ts';
import { startLimitMs } from './start-limit.ts';
import { bytesOf, type BegunRun, type LaunchStore, type NewLaunch, type NewRun } from './store.ts';
import { launchMessage } from './launch-message.ts';
import type { LaunchPayload } from './payload-store.ts';

export interface Dispatch {
  launcher: Pick<Principal, 'userId' | 'tokenName' | 'projectIds' | 'phones' | 'budget'>;
  /** Audit event of the launch; null for the task of a job: the audit event of the job names its user. */
  auditEvent: AuditEvent | null;
  /** Claims the only run, in the same transaction that stores it. */
  claim?: ((transaction: Transaction, run: StoredRun) => Promise<void>) | undefined;
  /** The service's own ID of the launch. */
  id: string;
  /** The caller's launch ID, when there is one. */
  launchId: string | null;
  fingerprint: string;
  /** Name of direct code in lists; null when the caller has given none, and for a project. */
  name: string | null;
  automationId: string;
  bundle: Bundle;
  /** The project; null for direct code. */
  project: Launchable | null;
  /** Direct code as it was written; null for a project. */
  code: string | null;
  automationParameters: Record<string, unknown>;
  jobVariables: Record<string, unknown>;
  /** Masks of the parts of screens that must not be seen. */
  masks: readonly ScreenMask[];
  /** Secrets that the code may read by name. */
  secrets: LaunchSecrets;
  /** Whether films are to be made of the runs. */
  film: boolean;
  /** Settings that the phones get before the code starts. */
  phoneSettings: PhoneSettings | undefined;
  devices: readonly OnlineDevice[];
}

export interface Dispatcher {
  launches: LaunchStore;
  audit: AuditLog;
  /** Called with the runs that a launch begins. */
  onCreated: (rows: readonly StoredRun[]) => void;
  activeRuns: ActiveRuns;
  hosts: ConnectedHosts;
  outbox: RunOutbox;
  runLimits: RunLimits;
  turns: Turns;
  stops: RunStops;
  matchers: ProjectMatchers;
  clock: Clock;
  /** Time that devices have to acknowledge. */
  ackTimeoutMs: number;
  namesOf: NamesOf;
}

interface PlannedRun extends OnlineDevice {
  row: StoredRun;
}

/** Timeout for the hello of a host on its newest connection. */
const reconnectMs = 4000;
const reconnectPauseMs = 20;

/** Runs of a launch after the wait for their start; a run without a start has not begun. */
export type LaunchOutcome = readonly BegunRun[];

/**
 * Stores a launch, sends it to the hosts of its devices, once to each, and waits for every device's answer. `plan` is
 * asked when it is the user's turn, because devices may have gone meanwhile; it may throw.
 */
export async function dispatch(
  dispatcher: Dispatcher,
  userId: string,
  plan: () => Promise<Dispatch>,
): Promise<LaunchOutcome> {
  const rows = await send(dispatcher, userId, plan);
  const begun = await awaitStart(dispatcher, rows);
  return rows.map((row) => begun.get(row.id) ?? row);
}

/** Does the same as `dispatch`, without the wait for the answers of the hosts; `awaitStart` waits for them. */
export function send(
  dispatcher: Dispatcher,
  userId: string,
  plan: () => Promise<Dispatch>,
): Promise<StoredRun[]> {
  // The turn does not last until the hosts answer: a slow host would hold up the user's launches on other phones.
  return dispatcher.turns.run(userId, () => beginOnNewest(dispatcher, plan));
}

/** Retries while a host connects again: what is sent on its earlier connection is lost. */
async function beginOnNewest(dispatcher: Dispatcher, plan: () => Promise<Dispatch>): Promise<StoredRun[]> {
  const until = performance.now() + reconnectMs;
  for (;;) {
    try {
      return await begin(dispatcher, await plan());
    } catch (error) {
      if (!(error instanceof EpochOver)) throw error;
      if (performance.now() > until)
        throw ApiError.of('devices_unavailable', { devices: 'a host of them is connecting again' });
      await wait(reconnectPauseMs);
    }
  }
}

async function begin(dispatcher: Dispatcher, launch: Dispatch): Promise<StoredRun[]> {
  const { launches, activeRuns, hosts, outbox, runLimits, clock, onCreated } = dispatcher;
  requireKnownLimit(launch);
  const parameters = await storedParameters(dispatcher, launch);
  const createdAt = clock.now();
  const ids = new IncreasingIds();
  const planned = launch.devices.map((on) => ({
    ...on,
    row: newRun(launch, on, ids.next(createdAt), createdAt),
  }));
  const rows = planned.map(({ row }) => row);
  const note = noteOf(dispatcher, launch, rows);
  const stored = newLaunch(launch, parameters, createdAt);
  const code = launch.code === null ? null : keptCode(launch.code);
  const store = async (): Promise<void> => {
    await launches.insert(stored, planned.map(placedRun), {
      requireRoom: async (transaction) => {
        const { userId, budget } = launch.launcher;
        await runLimits.requireRoom(transaction, userId, launch.devices);
        const begun = { runs: launch.devices.length, now: createdAt };
        if (budget !== null) await spendBudget(transaction, budget, begun);
      },
      code,
      payload: planned.some(({ epoch }) => !hosts.has(epoch)) ? payloadOf(launch) : undefined,
      note,
    });
    // Nothing may wait from here to the sending: a stop that came in between would overtake the launch.
    for (const { row, epoch } of planned) if (hosts.has(epoch)) activeRuns.add(activeRunOf(row, epoch));
    sendToHosts(dispatcher, launch, planned);
  };
  const sent = outbox.keepOff(launch.id);
  try {
    await runLimits.withRoom(launch.launcher.userId, bytesOf(stored.parameters, code), store);
  } finally {
    sent();
  }
  onCreated(rows);
  return rows;
}

/** Throws `devices_unavailable`: a host that does not know the limit of the token would let the code use every app. */
function requireKnownLimit({ launcher, devices }: Dispatch): void {
  const old = devices.filter(({ device }) => !device.knowsAppLimits);
  if (old.length === 0 || appLimitOf(launcher) === undefined) return;
  const reason = 'its host is of an older release, which limits no token to apps: bring it up to date';
  const names = old.map(({ device }) => `${nameOf(device)} (${reason})`);
  throw ApiError.of('devices_unavailable', { devices: boundedList(names, ', ') });
}

function noteOf({ audit }: Dispatcher, launch: Dispatch, rows: readonly StoredRun[]): Write<void> {
  const { auditEvent, claim } = launch;
  const [run] = rows;
  return async (transaction) => {
    if (claim !== undefined && run !== undefined) await claim(transaction, run);
    if (auditEvent === null) return;
    // Described only in the transaction that stores the launch: of two servers with the same launch, one stores it, and
    // the other has done nothing.
    describeAuditEvent(launch, auditEvent);
    await audit.writeOf(auditEvent)(transaction);
  };
}

const placedRun = ({ row, epoch }: PlannedRun): NewRun => ({ ...row, epoch });

/** Waits, as `dispatch` does, for the start of a launch that another server or an earlier process has sent. */
export async function awaitOutcome(dispatcher: Dispatcher, launch: string): Promise<LaunchOutcome> {
  const { launches } = dispatcher;
  const open = (await launches.listRuns(launch)).filter(({ status }) => status === 'starting');
  const begun = await awaitStart(dispatcher, open);
  const isSilent = ({ id }: BegunRun): boolean => !begun.has(id) && open.some((run) => run.id === id);
  const rows = await launches.listRuns(launch);
  return rows.map((row) => (isSilent(row) ? { ...row, started_at: null } : row));
}

/**
 * Waits until each run has started or ended, up to the time limit of its host. Calls off the runs that are silent until
 * then.
 */
export async function awaitStart(
  { activeRuns, stops, ackTimeoutMs }: Dispatcher,
  runs: readonly BegunRun[],
): Promise<Map<string, StoredRun>> {
  const begun = new Map<string, StoredRun>();
  const ofHosts = Map.groupBy(runs, (run) => `${run.device_owner_id} ${run.host_id}`);
  const awaitOfHost = async (ofHost: readonly BegunRun[]): Promise<void> => {
    const runIds = ofHost.map(({ id }) => id);
    const limitMs = startLimitMs(runIds.length, ackTimeoutMs);
    const known = await activeRuns.waitFor(runIds, ({ status }) => status !== 'starting', limitMs);
    const late = await stops.callOff(runIds.filter((id) => !known.has(id)));
    for (const row of [...known.values(), ...late]) begun.set(row.id, row);
  };
  await Promise.all([...ofHosts.values()].map(awaitOfHost));
  return begun;
}

/** Describes one audit event for all devices. */
function describeAuditEvent(
  { id, launchId, project, film, phoneSettings, devices }: Dispatch,
  auditEvent: AuditEvent,
): void {
  const owners = devices.map(({ device }) => device.ownerId);
  const [first] = devices;
  const details = {
    launch: id,
    ...(launchId === null ? {} : { launch_id: launchId }),
    ...(project === null ? {} : { commit: project.commit, tree: project.files.treeId }),
    ...(film && { film }),
    ...(phoneSettings !== undefined && { phone_settings: Object.keys(phoneSettings) }),
    devices: devices.length,
    first_devices: devices.slice(0, 10).map(({ device }) => device.id),
  };
  if (project !== null)
    auditEvent.on(
      { type: 'project', id: project.projectId, name: project.name },
      [project.ownerId, ...owners],
      details,
    );
  else if (first !== undefined)
    auditEvent.on({ type: 'device', id: first.device.id, name: first.device.serial }, owners, details);
}

function sendToHosts(
  { hosts, ackTimeoutMs }: Pick<Dispatcher, 'hosts' | 'ackTimeoutMs'>,
  launch: Dispatch,
  planned: readonly PlannedRun[],
): void {
  const payload = payloadOf(launch);
  for (const [epoch, runs] of Map.groupBy(planned, (run) => run.epoch)) {
    if (!hosts.has(epoch)) hosts.flush(epoch);
    const sent = runs.map(({ row, device }) => ({
      run_id: row.id,
      device_id: device.id,
      serial: device.serial,
      by: userMark(device.id, row.user_id),
    }));
    hosts.send(epoch, launchMessage(payload, { runs: sent, secrets: launch.secrets, ackTimeoutMs }));
  }
}

const phoneSettingsOf = ({ phoneSettings }: Dispatch): { phone_settings?: PhoneSettings } =>
  phoneSettings === undefined ? {} : { phone_settings: phoneSettings };

const payloadOf = (launch: Dispatch): LaunchPayload => ({
  launch: launch.id,
  bundle: launch.bundle,
  given: {
    automation_id: launch.automationId,
    automation_parameters: launch.automationParameters,
    job_variables: launch.jobVariables,
    masks: [...launch.masks],
    ...(launch.film && { film: true }),
    ...phoneSettingsOf(launch),
    ...limitGiven(launch),
  },
});

function limitGiven({ launcher }: Dispatch): Pick<LaunchPayload['given'], 'app_limit'> {
  const limit = appLimitOf(launcher);
  return limit === undefined ? {} : { app_limit: limit };
}

async function storedParameters({ matchers }: Dispatcher, launch: Dispatch): Promise<string | null> {
  const given = {
    automation_parameters: launch.automationParameters,
    job_variables: launch.jobVariables,
    ...phoneSettingsOf(launch),
  };
  return keptParameters(given, await matchers.of(launch.automationId, launch.secrets));
}

const newLaunch = (launch: Dispatch, parameters: string | null, createdAt: number): NewLaunch => ({
  id: launch.id,
  user_id: launch.launcher.userId,
  launch_id: launch.launchId,
  fingerprint: launch.fingerprint,
  token_name: launch.launcher.tokenName,
  budget_token: launch.launcher.budget?.tokenId ?? null,
  token_limits: limitsTextOf(keptTokenOf(launch.launcher)),
  tree: launch.project?.files.treeId ?? null,
  parameters,
  created_at: createdAt,
});

const newRun = (launch: Dispatch, { device }: OnlineDevice, id: string, createdAt: number): StoredRun => ({
  id,
  launch: launch.id,
  user_id: launch.launcher.userId,
  device_id: device.id,
  device_owner_id: device.ownerId,
  host_id: device.stored.host_id,
  automation_id: launch.automationId,
  project_name: launch.project?.name ?? launch.name,
  // The launch ID of direct code is its automation ID, too.
  launch_id: launch.project === null ? launch.launchId : null,
  status: 'starting',
  stop_requested: 0,
  log_left: 0,
  error_code: null,
  error_message: null,
  error_stack: null,
  outcome: null,
  commit: launch.project?.commit ?? null,
  dirty: launch.project === null ? null : Number(launch.project.dirty),
  created_at: createdAt,
  started_at: null,
  ended_at: null,
});

/** Looks up names of devices for messages: IDs with serial numbers. */
export type NamesOf = (deviceIds: readonly string[]) => Promise<(deviceId: string) => string>;
