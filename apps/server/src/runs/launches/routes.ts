import { isEnded, type LaunchBody, type LaunchDirectBody, launchRoutes } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { ApiError } from '../../kernel/errors/api-error.ts';
import { addRoute } from '../../http/requests/route.ts';
import type { GetLaunchable } from '../../code/projects/project-files.ts';
import type { ProjectPeople } from '../../code/projects/project-access.ts';
import type { ActiveRun } from '../runs/active-runs.ts';
import type { RunAccess } from '../runs/run-access.ts';
import type { StoredRun } from '../runs/stored-run.ts';
import type { PhoneSources } from './choose-phones.ts';
import { fingerprintOf } from './launch-answers.ts';
import { withDeviceRefusals } from './launch-reply.ts';
import type { Launches, LaunchRequest } from './launches.ts';
import { requestedPhones } from './requested-phones.ts';
import { stopOnDevices, type Stopper, whatMayBeStopped } from './stop-on-devices.ts';

interface LaunchRoutesOptions {
  launches: Launches;
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
  const { launches, getLaunchable, people, stopper, phones, runAccess, findRun } = options;

  addRoute(app, launchRoutes.launch, async ({ principal, body, auditEvent }) => {
    if (body.command === 'start') return launches.start(projectRequest(body, { principal, auditEvent }));
    const deviceIds = await requestedPhones(phones, principal.userId, body);
    try {
      const { projectId } = await getLaunchable(body.automationId, principal);
      const isMeant = (run: { automationId: string }): boolean => run.automationId === projectId;
      const { count, devices } = await stopOnDevices(stopper, { principal, auditEvent }, deviceIds, isMeant);
      const message =
        count === 0
          ? 'Nothing to stop: the automation does not run on these devices.'
          : `Stopped on ${count} device${count === 1 ? '' : 's'}.`;
      return { success: true, message, devices };
    } catch (error) {
      throw withDeviceRefusals(error, deviceIds);
    }
  });

  addRoute(app, launchRoutes.launchDirect, async ({ principal, body, auditEvent }) => {
    if (body.command === 'start') return launches.start(directRequest(body, { principal, auditEvent }));
    const { userId } = principal;
    // Launch IDs are unique per user: another user may have chosen the same one.
    const isMeant = (run: ActiveRun): boolean =>
      run.launchId === body.launch_id && [run.userId, run.deviceOwnerId].includes(userId);
    try {
      const { count, devices } = await stopOnDevices(
        stopper,
        { principal, auditEvent },
        [body.device_id],
        isMeant,
      );
      const message = count === 0 ? 'Nothing to stop: it does not run on this device.' : 'Stopped.';
      return { success: true, message, devices };
    } catch (error) {
      throw withDeviceRefusals(error, [body.device_id]);
    }
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
        reason: 'Only the launcher of a run, editors of its project and the owner of the device can stop it',
      });
    };
    await stopOnDevices(stopper, { principal, auditEvent }, [run.device_id], isMeant);
    return { success: true, message: 'Stopped.', devices: [{ ...row, outcome: 'stopped' as const }] };
  });
}

/** Creates a launch request from the body of `launchAutomation`. */
function projectRequest(
  body: Static<typeof LaunchBody>,
  caller: Pick<LaunchRequest, 'principal' | 'auditEvent'>,
): LaunchRequest {
  const { automationId, automationParameters = {}, jobVariables = {}, film = false } = body;
  const { phone_settings: phoneSettings, launch_id: launchId } = body;
  const places = [body.device_ids?.toSorted(), body.selector, body.count];
  const given = [automationParameters, jobVariables, film, phoneSettings ?? {}];
  const fingerprint = fingerprintOf([automationId, places, ...given]);
  const key = launchId === undefined ? null : { launchId, fingerprint };
  const inputs = { automationParameters, jobVariables, film, phoneSettings };
  return { ...caller, key, phones: body, inputs, direct: null };
}

/** Creates a launch request from the body of `launchDirectAutomation`. */
function directRequest(
  body: Static<typeof LaunchDirectBody>,
  caller: Pick<LaunchRequest, 'principal' | 'auditEvent'>,
): LaunchRequest {
  const { device_id, launch_id: launchId, code, name, command } = body;
  const { automationParameters = {}, jobVariables = {}, film = false, phone_settings: phoneSettings } = body;
  const given = [automationParameters, jobVariables, film, phoneSettings ?? {}];
  const fingerprint = fingerprintOf([device_id, code, ...given]);
  return {
    ...caller,
    key: { launchId, fingerprint },
    phones: { device_ids: [device_id], automationId: launchId, command },
    inputs: { automationParameters, jobVariables, film, phoneSettings },
    direct: { launchId, code, name },
  };
}
