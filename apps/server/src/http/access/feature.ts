import type { Context } from '../context.ts';
import { addAccessRoutes, addUsageRoutes } from './routes.ts';
import { addSessionRoutes } from './sessions/routes.ts';
import { addUserRoutes, type OwnedResources } from './user-routes.ts';

interface AccessDependencies {
  ownedResources: OwnedResources;
  /** Called with the current name of a user that has changed. */
  onNamed: (userId: string, name: string) => void;
}

/** Serves users, tokens and sessions. */
export function serveAccess(context: Context, { ownedResources, onNamed }: AccessDependencies): void {
  const { app, access, authenticator, clock, cluster, limits } = context;
  const { store, sessions } = access;
  cluster.invalidations.onAny('access', () => authenticator.recheck());
  cluster.invalidations.onAny('sessions', () => sessions.forgetAll());
  addAccessRoutes(app, { store, clock, limits });
  addSessionRoutes(app, access);
  addUsageRoutes(app, { store, clock, limits });
  addUserRoutes(app, { store, clock, ownedResources, onNamed });
}
