import type { LaunchBundle } from '@phalanx/protocol';
import { v7 as uuidv7 } from 'uuid';

import type { Clock } from '../clock.ts';
import type { OnlineDevice } from '../devices/online-devices.ts';
import type { HostLink } from '../hosts/host-link.ts';
import type { ActiveRuns } from '../runs/active-runs.ts';
import type { RunHistory } from '../runs/run-history.ts';
import type { Bundle } from './bundle.ts';
import type { LaunchStore } from './store.ts';

export interface Dispatch {
  userId: string;
  /** The service's own ID of the launch. */
  id: string;
  /** The caller's, when there is one. */
  launchId: string | null;
  fingerprint: string;
  automationId: string;
  bundle: Bundle;
  /** Of the project: the newest commit, and whether there were changes since. */
  version: { commit: string | null; isDirty: boolean } | null;
  automationParameters: Record<string, unknown>;
  jobVariables: Record<string, unknown>;
  devices: readonly OnlineDevice[];
}

export interface Dispatcher {
  launches: LaunchStore;
  runs: RunHistory;
  /** Told of the runs that a launch begins. */
  onCreated: (runIds: readonly string[]) => void;
  activeRuns: ActiveRuns;
  clock: Clock;
  /** How long devices have to acknowledge. */
  ackTimeoutMs: number;
  /** The connection that has the device now. */
  linkOf: (deviceId: string) => HostLink | null;
}

interface PlannedRun {
  runId: string;
  device: OnlineDevice['device'];
  link: HostLink;
}

/** What became of a launch: which devices have begun, and why the others have not. */
export interface LaunchOutcome {
  started: string[];
  missing: { deviceId: string; reason: string }[];
}

/** Stores a launch, sends it to the hosts of its devices, once to each, and waits for every device's answer. */
export async function dispatch(dispatcher: Dispatcher, launch: Dispatch): Promise<LaunchOutcome> {
  const createdAt = dispatcher.clock.now();
  const planned = launch.devices.map(({ device, link }) => ({ runId: uuidv7(), device, link }));
  await dispatcher.launches.insert(
    {
      id: launch.id,
      user_id: launch.userId,
      launch_id: launch.launchId,
      fingerprint: launch.fingerprint,
      created_at: createdAt,
    },
    planned.map((run) => newRun(launch, run)),
  );
  // From here to the sending nothing may wait: a stop that came in between would overtake the launch.
  for (const run of planned) dispatcher.activeRuns.add(activeRun(launch, run, createdAt));
  sendToHosts(launch, planned);
  dispatcher.onCreated(planned.map(({ runId }) => runId));
  return awaitOutcome(
    dispatcher,
    launch.id,
    planned.map(({ runId }) => runId),
  );
}

/** What becomes of a launch whose runs are stored: waits for every device's answer, or for the time limit. */
export async function awaitOutcome(
  dispatcher: Dispatcher,
  launch: string,
  runIds: readonly string[],
): Promise<LaunchOutcome> {
  const { activeRuns, ackTimeoutMs } = dispatcher;
  const silent = new Set(await activeRuns.waitFor(runIds, (run) => run?.status !== 'starting', ackTimeoutMs));
  if (silent.size > 0) await callOff(dispatcher, [...silent]);
  const outcome: LaunchOutcome = { started: [], missing: [] };
  for (const run of await dispatcher.runs.listOfLaunch(launch)) {
    if (run.started_at !== null && !silent.has(run.id)) outcome.started.push(run.device_id);
    else outcome.missing.push({ deviceId: run.device_id, reason: run.error_message ?? 'no answer' });
  }
  return outcome;
}

/** A run that is not acknowledged in time must not begin later, behind the back of a caller who was told so. */
async function callOff({ activeRuns, runs, linkOf }: Dispatcher, silent: readonly string[]): Promise<void> {
  const starting = silent.map((runId) => activeRuns.find(runId)).filter((run) => run !== undefined);
  // Before anything waits: a host that comes back meanwhile must hear of it.
  for (const run of starting) run.stopRequested = true;
  for (const [link, ofLink] of Map.groupBy(starting, (run) => linkOf(run.deviceId))) {
    link?.send({ type: 'stop', run_ids: ofLink.map((run) => run.runId) });
  }
  await runs.requestStop(silent);
}

function sendToHosts(launch: Dispatch, planned: readonly PlannedRun[]): void {
  for (const [link, runs] of Map.groupBy(planned, (run) => run.link)) {
    link.send({
      type: 'launch',
      automation_id: launch.automationId,
      bundle: bundleFor(link, launch.bundle),
      automation_parameters: launch.automationParameters,
      job_variables: launch.jobVariables,
      runs: runs.map(({ runId, device }) => ({ run_id: runId, device_id: device.id, serial: device.serial })),
    });
  }
}

/** A host that has the code by its hash is not sent it again. */
function bundleFor({ bundles }: HostLink, { hash, code, sourceMap }: Bundle): LaunchBundle {
  if (bundles.find(hash) !== undefined) return { hash, content: null };
  bundles.add(hash, code.length + (sourceMap?.length ?? 0), true);
  return { hash, content: { code, source_map: sourceMap } };
}

const newRun = (launch: Dispatch, { runId, device, link }: PlannedRun) => ({
  id: runId,
  device_id: device.id,
  host_id: link.hostId,
  automation_id: launch.automationId,
  commit: launch.version?.commit ?? null,
  dirty: launch.version === null ? null : Number(launch.version.isDirty),
});

const activeRun = (launch: Dispatch, { runId, device, link }: PlannedRun, createdAt: number) => ({
  runId,
  userId: launch.userId,
  deviceId: device.id,
  hostId: link.hostId,
  automationId: launch.automationId,
  launchId: launch.launchId,
  createdAt,
  status: 'starting' as const,
  startedAt: null,
  stopRequested: false,
  connectionId: link.connectionId,
});
