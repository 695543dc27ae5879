import { launchRoutes } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';

import { getOnlineDevices } from '../devices/online-devices.ts';
import type { Fleet } from '../devices/fleet.ts';
import { ApiError } from '../http/api-error.ts';
import type { Principal } from '../http/principal.ts';
import { addRoute } from '../http/route.ts';
import type { ActiveRun, ActiveRuns } from '../runs/active-runs.ts';
import { stopRuns } from '../runs/stop-runs.ts';
import type { RunStore } from '../runs/store.ts';
import type { DirectLaunches } from './direct-launches.ts';

interface LaunchRoutesOptions {
  fleet: Fleet;
  activeRuns: ActiveRuns;
  runs: RunStore;
  directLaunches: DirectLaunches;
  stopTimeoutMs: number;
}

/** `POST /devices/launchDirectAutomation` · `POST /devices/stopAllAutomations` */
export function addLaunchRoutes(app: FastifyInstance, options: LaunchRoutesOptions): void {
  const { fleet, activeRuns, directLaunches } = options;

  const stopOnDevice = async (
    userId: string,
    deviceId: string,
    isMeant: (run: ActiveRun) => boolean,
  ): Promise<number> => {
    const links = getOnlineDevices(fleet, userId, [deviceId]).map((online) => online.link);
    const runs = activeRuns.onDevice(deviceId).filter(isMeant);
    const limits = { store: options.runs, activeRuns, timeoutMs: options.stopTimeoutMs };
    for (const link of links) await stopRuns(limits, link, runs);
    return runs.length;
  };

  addRoute(app, launchRoutes.launchDirect, async ({ principal, body }) => {
    refuseLimitedToken(principal);
    if (body.command === 'start') {
      return { success: true, message: await directLaunches.start(principal.userId, body) };
    }
    const stopped = await stopOnDevice(
      principal.userId,
      body.device_id,
      (run) => run.launchId === body.launch_id,
    );
    const message = stopped === 0 ? 'Nothing to stop: it does not run on this device.' : 'Stopped.';
    return { success: true, message };
  });

  addRoute(app, launchRoutes.stopAll, async ({ principal, body }) => {
    refuseLimitedToken(principal);
    const stopped = await stopOnDevice(principal.userId, body.device_id, () => true);
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
