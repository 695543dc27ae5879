import { v7 as uuidv7 } from 'uuid';

import type { Clock } from '../clock.ts';
import type { DirectBundle } from '../compile/direct-code.ts';
import type { OnlineDevice } from '../devices/online-devices.ts';
import type { HostLink } from '../hosts/host-link.ts';
import type { ActiveRuns } from '../runs/active-runs.ts';
import type { RunStore } from '../runs/store.ts';
import type { LaunchStore } from './store.ts';

export interface Dispatch {
  userId: string;
  /** The service's own ID of the launch. */
  id: string;
  /** The caller's, when there is one. */
  launchId: string | null;
  fingerprint: string;
  automationId: string;
  bundle: DirectBundle;
  automationParameters: Record<string, unknown>;
  jobVariables: Record<string, unknown>;
  devices: readonly OnlineDevice[];
}

export interface Dispatcher {
  launches: LaunchStore;
  runs: RunStore;
  activeRuns: ActiveRuns;
  clock: Clock;
  /** How long devices have to acknowledge. */
  ackTimeoutMs: number;
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
  await waitForAnswers(dispatcher, planned);
  return readOutcome(dispatcher, launch.id);
}

/** What became of a launch whose runs are stored, once none of them is starting any more. */
export async function readOutcome(dispatcher: Dispatcher, launch: string): Promise<LaunchOutcome> {
  const outcome: LaunchOutcome = { started: [], missing: [] };
  for (const run of await dispatcher.runs.listOfLaunch(launch)) {
    if (run.started_at !== null) outcome.started.push(run.device_id);
    else outcome.missing.push({ deviceId: run.device_id, reason: run.error_message ?? 'no answer' });
  }
  return outcome;
}

/** A run that is not acknowledged in time must not begin later, behind the back of a caller who was told so. */
async function waitForAnswers(dispatcher: Dispatcher, planned: readonly PlannedRun[]): Promise<void> {
  const runIds = planned.map((run) => run.runId);
  const { activeRuns, ackTimeoutMs } = dispatcher;
  const silent = await activeRuns.waitFor(runIds, (run) => run?.status !== 'starting', ackTimeoutMs);
  if (silent.length === 0) return;
  await dispatcher.runs.requestStop(silent);
  const isSilent = new Set(silent);
  for (const { runId, link } of planned) {
    const run = activeRuns.find(runId);
    if (run === undefined || !isSilent.has(runId)) continue;
    run.stopRequested = true;
    link.send({ type: 'stop', run_ids: [runId] });
  }
}

function sendToHosts(launch: Dispatch, planned: readonly PlannedRun[]): void {
  for (const [link, runs] of Map.groupBy(planned, (run) => run.link)) {
    link.send({
      type: 'launch',
      automation_id: launch.automationId,
      bundle: { code: launch.bundle.code, source_map: launch.bundle.sourceMap },
      automation_parameters: launch.automationParameters,
      job_variables: launch.jobVariables,
      runs: runs.map(({ runId, device }) => ({ run_id: runId, device_id: device.id, serial: device.serial })),
    });
  }
}

const newRun = (launch: Dispatch, { runId, device, link }: PlannedRun) => ({
  id: runId,
  device_id: device.id,
  host_id: link.hostId,
  automation_id: launch.automationId,
  commit: null,
  dirty: null,
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
