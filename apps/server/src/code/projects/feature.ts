import path from 'node:path';
import { SettingError } from '@phalanx/settings';
import type { Logger } from 'pino';
import { addBackgroundJob } from '../../storage/background-job.ts';
import { openBlobs } from '../../storage/blobs/open-blobs.ts';
import type { Acceptance } from '../../http/acceptance.ts';
import type { Context } from '../../http/context.ts';
import type { GitProgram } from '../git/git-process.ts';
import { prepareGit, probeGit } from '../git/prepare-git.ts';
import { deleteProject, addProjectRoutes } from './routes.ts';
import { LargePacks, largePacksName } from './packs/large-packs.ts';
import { createPackLogStore } from './packs/pack-log-store.ts';
import { createProjectAccess, type ProjectAccess, ProjectPeople } from './project-access.ts';
import {
  createGetLaunchable,
  type GetLaunchable,
  type ServiceParts,
  shareServices,
  type SharedServices,
} from './project-files.ts';
import { ProjectRepositories } from './repositories/project-repositories.ts';
import { ProjectSizes } from './project-sizes.ts';
import { ProjectTotals } from './project-totals.ts';
import type { NoteSaved } from './saved-state.ts';
import { createProjectStore } from './store.ts';
import { hourMs, minuteMs } from '@phalanx/timing/durations';

export interface Projects {
  readonly access: ProjectAccess;
  readonly services: SharedServices;
  readonly getLaunchable: GetLaunchable;
  listOwned(userId: string): Promise<string[]>;
  /** Deletes a project with its files and commits. False when it was already deleted. */
  deleteProject(id: string): Promise<boolean>;
  /** Accepts a membership. False when the user is not a member of the project, or has another role. */
  acceptMembership(projectId: string, acceptance: Acceptance): Promise<boolean>;
}

/** Opens the in-memory cache of the users who may see and change projects. */
export function openPeople({ cluster, database }: Context): ProjectPeople {
  const people = new ProjectPeople(createProjectStore(database));
  cluster.invalidations.onAny('people', () => people.forgetAll());
  return people;
}

/**
 * Logs at every start whether the operating system confines the server's own work. Throws a `SettingError` when it does
 * not but has to.
 */
function logConfinement(git: GitProgram, isRequired: boolean, log: Logger): void {
  const { unconfinedBecause } = git;
  if (unconfinedBecause === undefined) {
    log.info(
      'Git, compiling and large bodies reach their own files alone, have no network and limited memory.',
    );
  } else if (isRequired) {
    throw new SettingError(`PHALANX_REQUIRE_CONFINEMENT is true, but: ${unconfinedBecause}`);
  } else log.warn(unconfinedBecause);
}

/** Registers the jobs that delete orphaned large packs, which belong to no project. */
function sweepPacks(context: Context, repositories: ProjectRepositories): void {
  let areStraysNoted = false;
  addBackgroundJob(context, {
    name: 'find large packs of no project',
    everyMs: hourMs,
    atStart: true,
    work: async () => {
      if (!areStraysNoted) await repositories.noteStrays();
      areStraysNoted = true;
    },
  });
  context.workers.add({
    kind: 'delete large packs',
    places: { all: 1, lane: 1 },
    claimMs: minuteMs,
    work: async ({ items }) => {
      for (const { key } of items) await repositories.removeLarge(key);
    },
  });
}

async function openRepositories(
  context: Context,
  git: GitProgram,
  { sizes, onSaved }: { sizes: ProjectSizes; onSaved: NoteSaved },
): Promise<ProjectRepositories> {
  const { app, bucket, clock, commits, database, dataDir, faults, log } = context;
  const repositories = new ProjectRepositories({
    git,
    clock,
    log,
    store: createPackLogStore(database, commits),
    large: new LargePacks(await openBlobs({ name: largePacksName, dataDir, bucket }, faults)),
    onTidied: (id, bytes) => sizes.measured(id, bytes),
    onSaved,
    cacheFolder: path.resolve(dataDir, 'project-cache'),
  });
  app.addHook('onClose', () => repositories.close());
  return repositories;
}

interface ProjectDependencies {
  compiler: ServiceParts['compiler'];
  parameters: ServiceParts['parameters'];
  /** Called after a project was deleted. */
  onDeleted: (projectId: string) => Promise<void>;
  onSaved: NoteSaved;
}

/** Opens projects and their repositories. Throws a `SettingError` when there is no usable git. */
export async function openProjects(
  context: Context,
  { compiler, parameters, onDeleted, onSaved }: ProjectDependencies,
): Promise<Projects> {
  const { app, clock, config, confinement, database, dataDir, faults, limits, log } = context;
  const git = await prepareGit(path.resolve(dataDir, 'git'), config.searchPath, { confinement });
  logConfinement(git, config.requireConfinement, log);
  faults.addProbe('git', () => probeGit(git));
  const store = createProjectStore(database);
  const sizes: ProjectSizes = new ProjectSizes({
    store,
    limits,
    onFull: (id) => repositories.tidySoon(id),
  });
  const repositories = await openRepositories(context, git, { sizes, onSaved });
  const ids = await store.listIds();
  await repositories.open((id) => ids.has(id));
  sweepPacks(context, repositories);
  const access = createProjectAccess(store);
  addProjectRoutes(app, { store, access, repositories, clock, limits, onDeleted });
  return {
    access,
    services: shareServices({ repositories, compiler, parameters, totals: new ProjectTotals(), sizes }),
    getLaunchable: createGetLaunchable(access, repositories),
    listOwned: (userId) => store.listOwned(userId),
    deleteProject: (id) => deleteProject({ repositories, onDeleted }, id),
    acceptMembership: (projectId, acceptance) => store.accept(projectId, acceptance),
  };
}
