import {
  isEnded,
  type LaunchBody,
  launchRoutes,
  type DeviceOutcome,
  type ProjectRole,
} from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { boundedList } from '../../kernel/errors/bounded-list.ts';
import type { AuditEvent } from '../../http/requests/audit-event.ts';
import type { Principal } from '../../http/requests/principal.ts';
import { addRoute } from '../../http/requests/route.ts';
import type { GetLaunchable } from '../../code/projects/project-files.ts';
import { type ProjectPeople, editors } from '../../code/projects/project-access.ts';
import type { ActiveRun } from '../runs/active-runs.ts';
import type { RunAccess } from '../runs/run-access.ts';
import type { StoredRun } from '../runs/stored-run.ts';
import type { DeviceAccess } from '../../fleet/devices/device-access.ts';
import type { FleetDevice } from '../../fleet/devices/fleet-device.ts';
import { getStoppableDevices, nameOf } from '../../fleet/devices/online-devices.ts';
import type { RunStops } from '../runs/run-stops.ts';
import type { ActiveRunRows } from '../runs/active-run-rows.ts';
import { chooseFree, listSelected, type PhoneSources } from './choose-phones.ts';
import {
  type BegunLaunch,
  fingerprintOf,
  type KeyedLaunches,
  type LaunchReply,
  refusingEach,
} from './keyed-launches.ts';
import type { DirectLaunches } from './direct-launches.ts';
import type { ProjectLaunches } from './project-launches.ts';

interface LaunchRoutesOptions {
  keyedLaunches: KeyedLaunches;
  directLaunches: DirectLaunches;
  projectLaunches: ProjectLaunches;
  getLaunchable: GetLaunchable;
  people: ProjectPeople;
  stopper: Stopper;
  phones: PhoneSources;
  runAccess: RunAccess;
  findRun: (runId: string) => Promise<StoredRun | undefined>;
}

/**
 * `POST /devices/launchAutomation` · `POST /devices/launchDirectAutomation` · `POST /devices/stopAllAutomations` ·
 * `POST /runs/:id/stop`
 */
export function addLaunchRoutes(app: FastifyInstance, options: LaunchRoutesOptions): void {
  const { directLaunches, getLaunchable, people, stopper, phones, runAccess, findRun } = options;

  addRoute(app, launchRoutes.launch, async ({ principal, body, auditEvent }) => {
    if (body.command === 'start') return startProject(options, { principal, body, auditEvent });
    const deviceIds = await choosePlaces(phones, principal.userId, body);
    return refusingEach(deviceIds, async () => {
      const { projectId } = await getLaunchable(body.automationId, principal);
      const isMeant = (run: { automationId: string }): boolean => run.automationId === projectId;
      const { count, devices } = await stopOnDevices(stopper, { principal, auditEvent }, deviceIds, isMeant);
      const message =
        count === 0
          ? 'Nothing to stop: the automation does not run on these devices.'
          : `Stopped on ${count} device${count === 1 ? '' : 's'}.`;
      return { success: true, message, devices };
    });
  });

  addRoute(app, launchRoutes.launchDirect, async ({ principal, body, auditEvent }) => {
    return refusingEach([body.device_id], async () => {
      if (body.command === 'start') return directLaunches.start({ ...principal, auditEvent }, body);
      const { userId } = principal;
      // Another user may have chosen the same launch ID.
      const isMeant = (run: ActiveRun): boolean =>
        run.launchId === body.launch_id && [run.userId, run.deviceOwnerId].includes(userId);
      const { count, devices } = await stopOnDevices(
        stopper,
        { principal, auditEvent },
        [body.device_id],
        isMeant,
      );
      const message = count === 0 ? 'Nothing to stop: it does not run on this device.' : 'Stopped.';
      return { success: true, message, devices };
    });
  });

  addRoute(app, launchRoutes.stopAll, async ({ principal, body, auditEvent }) => {
    const { userId } = principal;
    const mayStop = await whatMayBeStopped(stopper, people, { deviceId: body.device_id, userId });
    const { count, devices } = await stopOnDevices(
      stopper,
      { principal, auditEvent },
      [body.device_id],
      mayStop,
    );
    const message =
      count === 0
        ? 'Nothing to stop: no automation runs on this device.'
        : `Stopped ${count} automation${count === 1 ? '' : 's'}.`;
    return { success: true, message, devices };
  });

  addRoute(app, launchRoutes.stopRun, async ({ principal, params, auditEvent }) => {
    const { userId } = principal;
    const run = await runAccess.getStoppable(await findRun(params.id.toLowerCase()), principal, params.id);
    const row = { device_id: run.device_id, code: null, reason: null, run_id: run.id };
    if (isEnded(run.status))
      return {
        success: true,
        message: 'Nothing to stop: the run has ended.',
        devices: [{ ...row, outcome: 'nothing_to_stop' as const }],
      };
    const mayStop = await whatMayBeStopped(stopper, people, { deviceId: run.device_id, userId });
    const isMeant = (active: ActiveRun): boolean => {
      if (active.runId !== run.id || mayStop(active)) return active.runId === run.id;
      throw ApiError.of('forbidden', {
        reason: 'A run is stopped by its launcher, by editors of its project and by the owner of the device',
      });
    };
    await stopOnDevices(stopper, { principal, auditEvent }, [run.device_id], isMeant);
    return { success: true, message: 'Stopped.', devices: [{ ...row, outcome: 'stopped' as const }] };
  });
}

interface ProjectStart {
  readonly principal: Principal;
  readonly body: Static<typeof LaunchBody>;
  readonly auditEvent: AuditEvent;
}

async function startProject(
  { keyedLaunches, projectLaunches, getLaunchable, phones }: LaunchRoutesOptions,
  { principal, body, auditEvent }: ProjectStart,
): Promise<LaunchReply> {
  const { userId } = principal;
  const { automationId, automationParameters, jobVariables, film = false, launch_id: launchId } = body;
  const { phone_settings: phoneSettings } = body;
  const places = [body.device_ids?.toSorted(), body.selector, body.count];
  const fingerprint = fingerprintOf([
    automationId,
    places,
    automationParameters ?? {},
    jobVariables ?? {},
    film,
    phoneSettings ?? {},
  ]);
  const key = launchId === undefined ? undefined : { launchId, fingerprint };
  const begin = async (): Promise<BegunLaunch> => {
    const device_ids = await choosePlaces(phones, userId, body);
    const inputs = { automationParameters, jobVariables, film, phoneSettings };
    const request = { device_ids, key, automationId, ...inputs };
    return refusingEach(device_ids, () => projectLaunches.begin(principal, request, auditEvent));
  };
  if (key === undefined) return keyedLaunches.startWithout(begin);
  // Only users who may start the project are told what has started.
  return refusingEach(body.device_ids ?? [], async () => {
    await getLaunchable(automationId, principal);
    return keyedLaunches.start({ userId, ...key, begin });
  });
}

/** Lists the phones that a body means: its list, or the phones that its selector finds. */
async function choosePlaces(
  sources: PhoneSources,
  userId: string,
  { device_ids, selector, count, command, automationId }: Static<typeof LaunchBody>,
): Promise<string[]> {
  if (device_ids !== undefined && selector === undefined && count === undefined) return device_ids;
  if (selector === undefined) {
    const problem =
      device_ids === undefined ? 'Field device_ids is required' : 'Field count needs a selector';
    throw ApiError.of('invalid_request', { problem });
  }
  if (device_ids !== undefined)
    throw ApiError.of('invalid_request', { problem: 'Give device_ids or selector, not both' });
  const choice = { userId, projectId: automationId.toLowerCase(), selector, count };
  if (command === 'start') return chooseFree(sources, choice);
  const ids = (await listSelected(sources, choice)).map(({ device }) => device.id);
  const running = await sources.activeRunRows.mapByDevice(ids);
  return ids.filter((id) => running.get(id)?.some((run) => run.automationId === automationId));
}

interface Stopper {
  devices: DeviceAccess;
  activeRunRows: Pick<ActiveRunRows, 'mapByDevice'>;
  stops: RunStops;
}

/**
 * Selects the runs on a device that the user may stop: all of them for its owner, for others those that they have
 * launched or might launch.
 */
async function whatMayBeStopped(
  { devices, activeRunRows }: Stopper,
  people: ProjectPeople,
  { deviceId, userId }: { deviceId: string; userId: string },
): Promise<(run: ActiveRun) => boolean> {
  if ((await devices.find(deviceId, userId))?.role === 'owner') return () => true;
  const runs = (await activeRunRows.mapByDevice([deviceId])).get(deviceId) ?? [];
  const projectIds = new Set(runs.map((run) => run.automationId));
  for (const id of projectIds) if (!isEditor((await people.of(id)).get(userId))) projectIds.delete(id);
  return (run) => run.userId === userId || (run.launchId === null && projectIds.has(run.automationId));
}

const isEditor = (role: ProjectRole | undefined): boolean => role !== undefined && editors.includes(role);

/**
 * Ends the runs on these devices for which `isMeant` holds. Returns their number, and the outcome for each device.
 * Throws `devices_unavailable` before anything is stopped, or `stop_not_confirmed`.
 */
async function stopOnDevices(
  { devices: access, activeRunRows, stops }: Stopper,
  { principal: { userId }, auditEvent }: { principal: Principal; auditEvent: AuditEvent },
  deviceIds: readonly string[],
  isMeant: (run: ActiveRun) => boolean,
): Promise<{ count: number; devices: DeviceOutcome[] }> {
  const before = await activeRunRows.mapByDevice(deviceIds);
  const hasRuns = (id: string): boolean => before.get(id)?.some(isMeant) === true;
  const online = await getStoppableDevices(access, userId, deviceIds, hasRuns);
  const running = await activeRunRows.mapByDevice(online.map(({ device }) => device.id));
  const meant = online.flatMap(({ device }) => running.get(device.id)?.filter(isMeant) ?? []);
  describeAuditEvent(auditEvent, meant, online);
  const unconfirmed = await stops.stop(meant);
  const stoppedOn = Map.groupBy(meant, ({ deviceId }) => deviceId);
  const lateOn = Map.groupBy(unconfirmed, ({ deviceId }) => deviceId);
  const seconds = stops.timeoutMs / 1000;
  const devices = online.map(({ device }) => {
    const late = lateOn.get(device.id);
    if (late !== undefined) return notConfirmed(device, late, seconds);
    return rowOf(device, stoppedOn.get(device.id) ?? []);
  });
  if (unconfirmed.length === 0) return { count: meant.length, devices };
  const runs = boundedList(
    unconfirmed.map(({ runId }) => runId),
    ', ',
  );
  throw ApiError.of('stop_not_confirmed', { seconds, runs }, { devices });
}

/** Describes one audit event for all devices, and none when nothing runs. */
function describeAuditEvent(
  auditEvent: AuditEvent,
  meant: readonly ActiveRun[],
  on: readonly { device: FleetDevice }[],
): void {
  auditEvent.action = 'stop';
  const [run] = meant;
  const device = on.find(({ device: { id } }) => id === run?.deviceId)?.device;
  if (run === undefined || device === undefined) return;
  const people = meant.flatMap(({ userId, deviceOwnerId }) => [userId, deviceOwnerId]);
  const details = { runs: meant.length, first_runs: meant.slice(0, 10).map(({ runId }) => runId) };
  auditEvent.on({ type: 'device', id: device.id, name: device.serial }, people, details);
}

/** ID of the newest run. IDs are UUIDv7s of one process: their order is that of creation. */
const newestOf = (runs: readonly ActiveRun[]): string | null =>
  runs
    .map(({ runId }) => runId)
    .sort()
    .at(-1) ?? null;

function rowOf({ id }: FleetDevice, runs: readonly ActiveRun[]): DeviceOutcome {
  const outcome = runs.length === 0 ? 'nothing_to_stop' : 'stopped';
  return { device_id: id, outcome, code: null, reason: null, run_id: newestOf(runs) };
}

function notConfirmed(device: FleetDevice, late: readonly ActiveRun[], seconds: number): DeviceOutcome {
  const reason = `${nameOf(device)}: the end was not confirmed within ${seconds} s; the stop stays requested.`;
  const code = 'stop_not_confirmed';
  return { device_id: device.id, outcome: 'not_acknowledged', code, reason, run_id: newestOf(late) };
}
