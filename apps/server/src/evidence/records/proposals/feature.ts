import type { Captures } from '../../../runs/captures/captures.ts';
import type { Compiler } from '../../../code/compile/compiler.ts';
import type { Context } from '../../../http/context.ts';
import type { Projects } from '../../../code/projects/feature.ts';
import { createAutomationAccess } from '../access-store.ts';
import { createGroupStore } from '../groups/store.ts';
import { createSavedScreens } from './saved-screens-store.ts';
import { SignReader } from './find-signs.ts';
import { addProposalRoutes } from './routes.ts';

interface Dependencies {
  captures: Captures;
  compiler: Compiler;
  projects: Pick<Projects, 'getLaunchable'>;
}

/** Serves proposals: signs of the screens of groups, and code changes that add them. */
export function serveProposals(
  { app, confinement, database, limits }: Context,
  { captures, compiler, projects }: Dependencies,
): void {
  const reader = new SignReader(confinement);
  app.addHook('onClose', () => reader.close());
  addProposalRoutes(app, {
    store: createGroupStore(database),
    access: createAutomationAccess(database),
    screens: createSavedScreens(database, captures),
    reader,
    compiler,
    getLaunchable: projects.getLaunchable,
    turns: limits.turns.reading,
  });
}
