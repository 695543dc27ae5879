import path from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';

import type { Clock } from './clock.ts';
import { addCommitRoutes } from './commits/routes.ts';
import type { Compiler } from './compile/compiler.ts';
import type { Db } from './db/database.ts';
import { addFileRoutes } from './files/routes.ts';
import { prepareGit } from './git/prepare-git.ts';
import { addGitRoutes } from './git-http/routes.ts';
import type { Authenticate } from './http/authentication.ts';
import { createGetLaunchable, type GetLaunchable } from './projects/launchable.ts';
import { createProjectAccess, type ProjectAccess } from './projects/project-access.ts';
import type { ProjectDesk } from './projects/project-desk.ts';
import { ProjectRepositories } from './projects/project-repositories.ts';
import { ProjectTotals } from './projects/project-totals.ts';
import { addProjectRoutes } from './projects/routes.ts';
import { createProjectStore } from './projects/store.ts';

interface ProjectFeaturesOptions {
  database: Db;
  dataDir: string;
  /** Where git is looked for. */
  searchPath: string;
  clock: Clock;
  log: Logger;
  compiler: ProjectDesk['compiler'] & Partial<Compiler>;
  authenticate: Authenticate;
  /** Told after a project is gone. */
  onDeleted: (projectId: string) => Promise<void>;
}

/** Projects with everything that belongs to them: files, commits, git clients. */
export interface ProjectFeatures {
  readonly access: ProjectAccess;
  readonly getLaunchable: GetLaunchable;
  addRoutes(app: FastifyInstance): Promise<void>;
  close(): Promise<void>;
}

/** Throws a `SettingError` when this machine has no git that will do. */
export async function openProjectFeatures(options: ProjectFeaturesOptions): Promise<ProjectFeatures> {
  const { dataDir, clock, log, authenticate } = options;
  const git = await prepareGit(path.resolve(dataDir, 'git'), options.searchPath);
  const store = createProjectStore(options.database);
  const repositories = new ProjectRepositories({ git, folder: path.resolve(dataDir, 'projects'), log });
  const ids = await store.listIds();
  await repositories.sweep((id) => ids.has(id));
  const access = createProjectAccess(store);
  const desk = { repositories, compiler: options.compiler, totals: new ProjectTotals() };
  return {
    access,
    getLaunchable: createGetLaunchable(access, repositories),
    addRoutes: async (app) => {
      addProjectRoutes(app, { store, access, repositories, clock, onDeleted: options.onDeleted });
      await addFileRoutes(app, { access, desk });
      addCommitRoutes(app, { access, desk, clock });
      await addGitRoutes(app, { authenticate, access, desk, log });
    },
    close: () => repositories.close(),
  };
}
