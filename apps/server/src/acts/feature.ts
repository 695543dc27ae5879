import { deviceControlRoutes, type LaunchSecrets } from '@phalanx/protocol';

import type { Context } from '../context.ts';
import type { DeviceAccess } from '../devices/device-access.ts';
import type { DeviceScreens } from '../devices/feature.ts';
import { getTouchable } from '../devices/touchable-device.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Hosts } from '../hosts/feature.ts';
import { appLimitOf, type Principal } from '../http/principal.ts';
import { addRoute } from '../http/route.ts';
import type { Projects } from '../projects/feature.ts';
import { editors } from '../projects/project-access.ts';
import type { Runs } from '../runs/feature.ts';
import { doSteps, resolveSteps } from './do-steps.ts';

interface ActDependencies {
  devices: DeviceAccess;
  hosts: Hosts;
  runs: Pick<Runs, 'activeRunRows'>;
  screens: DeviceScreens;
  projects: Pick<Projects, 'access'>;
  secretsOf: (projectId: string) => Promise<LaunchSecrets>;
}

/** `POST /devices/:id/act` */
export function serveActs(
  { app, faults, limits }: Context,
  {
    devices,
    hosts: { linked: hosts },
    runs,
    screens: { screens, reader },
    projects,
    secretsOf,
  }: ActDependencies,
): void {
  const requireIdle = async (deviceId: string): Promise<void> => {
    const running = (await runs.activeRunRows.mapByDevice([deviceId])).get(deviceId) ?? [];
    if (running.length > 0) throw ApiError.of('device_in_use', { device_id: deviceId });
  };
  const secretsFor = async (principal: Principal, projectId: string): Promise<LaunchSecrets> =>
    secretsOf((await projects.access.getProject(principal, projectId, editors)).id);

  addRoute(app, deviceControlRoutes.act, async ({ principal, params, body, auditEvent }) => {
    const { userId } = principal;
    const { device } = await getTouchable(devices, params.id, principal);
    const owner = { userId, deviceId: device.id };
    auditEvent.on({ type: 'device', id: device.id, name: device.serial }, [device.ownerId]);
    auditEvent.isFrequent = true;
    const toucher = { userId, leaseId: body.lease_id };
    await devices.leases.use(device, toucher);
    await requireIdle(device.id);
    const before = body.screen_id === undefined ? undefined : await screens.get(body.screen_id, owner);
    const { project_id: projectId } = body;
    const secrets = (): Promise<LaunchSecrets> => {
      if (projectId !== undefined) return secretsFor(principal, projectId);
      throw ApiError.of('invalid_request', {
        problem: 'Field project_id is missing: a secret is of a project',
      });
    };
    const steps = await resolveSteps(body.steps, { before, secrets, projectId: projectId ?? '' });
    const telling = { screens, owner, before };
    const touch = { deviceId: device.id, ...toucher };
    const order = { steps, timeoutMs: body.timeout_ms ?? usualTimeoutMs, touch, telling };
    const asked = { hosts, device, appLimit: appLimitOf(principal) };
    const outcome = await doSteps(asked, order, { turns: limits.turns.screens, reader }).catch(
      async (error: unknown) => {
        await devices.leases.requireFreeNow(device, toucher);
        throw error;
      },
    );
    await devices.leases.addCode(device, toucher, outcome.code).catch((error: unknown) => {
      // The steps are done.
      faults.report(error, 'the code of an act was not stored');
    });
    return { success: true, ...outcome };
  });
}

const usualTimeoutMs = 30_000;
