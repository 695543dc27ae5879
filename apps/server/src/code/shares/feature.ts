import type { Context } from '../../http/context.ts';
import type { DeviceAccess } from '../../fleet/devices/device-access.ts';
import type { Projects } from '../projects/feature.ts';
import { createReceivedShareStore } from './store.ts';
import { addShareRoutes } from './routes.ts';

interface ShareDependencies {
  devices: DeviceAccess;
  projects: Pick<Projects, 'acceptMembership'>;
}

/** Serves the shares that a user has received, and their acceptance. */
export function serveShares(
  { app, clock, database }: Context,
  { devices, projects }: ShareDependencies,
): void {
  addShareRoutes(app, {
    store: createReceivedShareStore(database),
    clock,
    accept: ({ kind, id, owner_id }, acceptance) =>
      kind === 'project'
        ? projects.acceptMembership(id, acceptance)
        : devices.shares.accept({ kind, owner_id, target_id: id }, acceptance),
  });
}
