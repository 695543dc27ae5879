import { setTimeout as wait } from 'node:timers/promises';
import type { ScreenMask } from '@phalanx/protocol';

import type { AuditLog } from '../audit/audit-log.ts';
import type { Clock } from '../clock.ts';
import { EpochOver } from '../db/epochs.ts';
import type { OnlineDevice } from '../devices/online-devices.ts';
import type { LinkedHosts } from '../hosts/linked-hosts.ts';
import { ApiError } from '../http/api-error.ts';
import type { Deed } from '../http/deed.ts';
import type { Principal } from '../http/principal.ts';
import type { Turns } from '../limits/turns.ts';
import type { Launchable } from '../projects/project-files.ts';
import { activeRunOf, type ActiveRuns } from '../runs/active-runs.ts';
import type { RunStops } from '../runs/run-stops.ts';
import { keptParameters, type StoredRun } from '../runs/stored-run.ts';
import { IncreasingIds } from '../uuid-v7.ts';
import type { Bundle } from './bundles.ts';
import type { NamesOf } from './device-names.ts';
import type { RunDelivery } from './run-delivery.ts';
import type { RunPlaces } from './run-places.ts';
import { launchMessage, type LaunchPayload } from './payload-store.ts';
import type { BegunRun, LaunchElsewhere, LaunchStore, NewLaunch } from './store.ts';

export interface Dispatch {
  launcher: Pick<Principal, 'userId' | 'tokenName'>;
  deed: Deed;
  /** The service's own ID of the launch. */
  id: string;
  /** The caller's, when there is one. */
  launchId: string | null;
  fingerprint: string;
  automationId: string;
  bundle: Bundle;
  /** Null for direct code. */
  project: Launchable | null;
  automationParameters: Record<string, unknown>;
  jobVariables: Record<string, unknown>;
  /** What of the screens must not be seen. */
  masks: readonly ScreenMask[];
  devices: readonly OnlineDevice[];
}

export interface Dispatcher {
  launches: LaunchStore;
  audit: AuditLog;
  /** Told of the runs that a launch begins. */
  onCreated: (rows: readonly StoredRun[]) => void;
  activeRuns: ActiveRuns;
  hosts: LinkedHosts;
  /** Where there are several servers. */
  delivery: RunDelivery | undefined;
  places: RunPlaces;
  turns: Turns;
  stops: RunStops;
  clock: Clock;
  /** How long devices have to acknowledge. */
  ackTimeoutMs: number;
  namesOf: NamesOf;
}

interface PlannedRun extends OnlineDevice {
  row: StoredRun;
}

/** How long a host may take to say hello on its newest connection. */
const reconnectMs = 2000;
const reconnectPauseMs = 20;

/** What became of the runs of a launch; one without a start has not begun. */
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
  // Not until the hosts have answered: a slow one would keep the other phones of its owner waiting.
  const rows = await dispatcher.turns.run(userId, () => beginOnNewest(dispatcher, plan));
  const begun = await awaitStart(dispatcher, rows);
  return rows.map((row) => begun.get(row.id) ?? row);
}

/** A host that connects again at this moment is waited for: what is sent on its earlier connection is lost. */
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
  const { launches, audit, activeRuns, hosts, delivery, places, clock, onCreated } = dispatcher;
  const claimed = places.claim(launch.launcher.userId, launch.devices);
  const createdAt = clock.now();
  const ids = new IncreasingIds();
  const planned = launch.devices.map((on) => ({
    ...on,
    row: newRun(launch, on, ids.next(createdAt), createdAt),
  }));
  const rows = planned.map(({ row }) => row);
  describeDeed(launch);
  const note = audit.writeOf(launch.deed);
  const isSending = delivery?.keepOff(launch.id);
  try {
    const epochs = [...new Set(planned.map(({ epoch }) => epoch))];
    const elsewhere = delivery && { check: claimed.check, ...elsewhereOf(hosts, launch, planned) };
    await launches.insert(newLaunch(launch, createdAt), rows, { note, epochs, several: elsewhere });
    // From here to the sending nothing may wait: a stop that came in between would overtake the launch.
    for (const { row, epoch } of planned) {
      if (delivery === undefined || hosts.has(epoch)) activeRuns.add(activeRunOf(row, epoch));
    }
    sendToHosts(hosts, launch, planned);
  } finally {
    claimed.release();
    isSending?.();
  }
  onCreated(rows);
  return rows;
}

/** Where the runs are to be sent, and for servers that have hosts of them, what. */
function elsewhereOf(
  hosts: LinkedHosts,
  launch: Dispatch,
  planned: readonly PlannedRun[],
): Omit<LaunchElsewhere, 'check'> {
  const epochs = new Map(planned.map(({ row, epoch }) => [row.id, epoch]));
  const isElsewhere = planned.some(({ epoch }) => !hosts.has(epoch));
  return {
    epochOf: ({ id }) => epochs.get(id) ?? null,
    payload: isElsewhere ? payloadOf(launch) : undefined,
  };
}

/** What became of a launch that an earlier process of the service, or another server, has sent: waits as `dispatch` does. */
export async function awaitOutcome(dispatcher: Dispatcher, launch: string): Promise<LaunchOutcome> {
  const { launches, activeRuns, delivery } = dispatcher;
  // With one server, what is in memory is as new as what is stored.
  const isOpen = ({ id, status }: BegunRun): boolean =>
    (delivery === undefined ? activeRuns.find(id)?.row.status : status) === 'starting';
  const open = (await launches.listRuns(launch)).filter(isOpen);
  const begun = await awaitStart(dispatcher, open);
  const isSilent = ({ id }: BegunRun): boolean => !begun.has(id) && open.some((run) => run.id === id);
  const rows = await launches.listRuns(launch);
  return rows.map((row) => (isSilent(row) ? { ...row, started_at: null } : row));
}

/** Waits until each run has started or ended, or for the time limit; what is silent until then is called off. */
async function awaitStart(
  { activeRuns, stops, ackTimeoutMs }: Dispatcher,
  runs: readonly BegunRun[],
): Promise<Map<string, StoredRun>> {
  const runIds = runs.map(({ id }) => id);
  const begun = await activeRuns.waitFor(runIds, ({ status }) => status !== 'starting', ackTimeoutMs);
  const late = await stops.callOff(runIds.filter((id) => !begun.has(id)));
  for (const row of late) begun.set(row.id, row);
  return begun;
}

/** One for all devices. */
function describeDeed({ deed, id, launchId, project, devices }: Dispatch): void {
  const owners = devices.map(({ device }) => device.ownerId);
  const [first] = devices;
  const details = {
    launch: id,
    ...(project === null ? { launch_id: launchId } : { commit: project.commit, tree: project.files.treeId }),
    devices: devices.length,
    first_devices: devices.slice(0, 10).map(({ device }) => device.id),
  };
  if (project !== null)
    deed.on(
      { type: 'project', id: project.projectId, name: project.name },
      [project.ownerId, ...owners],
      details,
    );
  else if (first !== undefined)
    deed.on({ type: 'device', id: first.device.id, name: first.device.serial }, owners, details);
}

function sendToHosts(hosts: LinkedHosts, launch: Dispatch, planned: readonly PlannedRun[]): void {
  const payload = payloadOf(launch);
  for (const [epoch, runs] of Map.groupBy(planned, (run) => run.epoch)) {
    if (!hosts.has(epoch)) hosts.look(epoch);
    const sent = runs.map(({ row, device }) => ({
      run_id: row.id,
      device_id: device.id,
      serial: device.serial,
    }));
    hosts.send(epoch, launchMessage(payload, sent));
  }
}

const payloadOf = (launch: Dispatch): LaunchPayload => ({
  launch: launch.id,
  bundle: launch.bundle,
  given: {
    automation_id: launch.automationId,
    automation_parameters: launch.automationParameters,
    job_variables: launch.jobVariables,
    masks: [...launch.masks],
  },
});

const newLaunch = (launch: Dispatch, createdAt: number): NewLaunch => ({
  id: launch.id,
  user_id: launch.launcher.userId,
  launch_id: launch.launchId,
  fingerprint: launch.fingerprint,
  token_name: launch.launcher.tokenName,
  project_name: launch.project?.name ?? null,
  tree: launch.project?.files.treeId ?? null,
  parameters: keptParameters({
    automation_parameters: launch.automationParameters,
    job_variables: launch.jobVariables,
  }),
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
  launch_id: launch.launchId,
  status: 'starting',
  stop_requested: 0,
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
