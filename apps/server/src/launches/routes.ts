import { launchRoutes } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';

import { ApiError } from '../http/api-error.ts';
import type { Principal } from '../http/principal.ts';
import { addRoute } from '../http/route.ts';
import type { GetLaunchable } from '../projects/launchable.ts';
import type { DirectLaunches } from './direct-launches.ts';
import type { ProjectLaunches } from './project-launches.ts';
import { stopOnDevices, type Stopper } from './stop-on-devices.ts';

interface LaunchRoutesOptions {
  directLaunches: DirectLaunches;
  projectLaunches: ProjectLaunches;
  getLaunchable: GetLaunchable;
  stopper: Stopper;
}

/** `POST /devices/launchAutomation` · `POST /devices/launchDirectAutomation` · `POST /devices/stopAllAutomations` */
export function addLaunchRoutes(app: FastifyInstance, options: LaunchRoutesOptions): void {
  const { directLaunches, projectLaunches, getLaunchable, stopper } = options;

  addRoute(app, launchRoutes.launch, async ({ principal, body }) => {
    if (body.command === 'start') {
      return { success: true, message: await projectLaunches.start(principal, body) };
    }
    const { projectId } = await getLaunchable(body.automationId, principal);
    const isMeant = (run: { automationId: string }): boolean => run.automationId === projectId;
    const stopped = await stopOnDevices(stopper, principal.userId, body.device_ids, isMeant);
    const message =
      stopped === 0
        ? 'Nothing to stop: the automation does not run on these devices.'
        : `Stopped on ${stopped} device${stopped === 1 ? '' : 's'}.`;
    return { success: true, message };
  });

  addRoute(app, launchRoutes.launchDirect, async ({ principal, body }) => {
    refuseLimitedToken(principal);
    if (body.command === 'start') {
      return { success: true, message: await directLaunches.start(principal.userId, body) };
    }
    const isMeant = (run: { launchId: string | null }): boolean => run.launchId === body.launch_id;
    const stopped = await stopOnDevices(stopper, principal.userId, [body.device_id], isMeant);
    const message = stopped === 0 ? 'Nothing to stop: it does not run on this device.' : 'Stopped.';
    return { success: true, message };
  });

  addRoute(app, launchRoutes.stopAll, async ({ principal, body }) => {
    refuseLimitedToken(principal);
    const stopped = await stopOnDevices(stopper, principal.userId, [body.device_id], () => true);
    if (stopped === 0)
      return { success: true, message: 'Nothing to stop: no automation runs on this device.' };
    return { success: true, message: `Stopped ${stopped} automation${stopped === 1 ? '' : 's'}.` };
  });
}

function refuseLimitedToken({ projectIds }: Principal): void {
  if (projectIds === null) return;
  throw ApiError.of('forbidden', {
    reason: 'This token is limited to some projects: it can neither run direct code nor stop all automations',
  });
}
