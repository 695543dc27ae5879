import path from 'node:path';
import { SettingError } from '@phalanx/settings';
import type { Logger } from 'pino';

import { addCommitRoutes } from './commits/routes.ts';
import { byOneServer } from './db/locks.ts';
import { probeOfPart } from './faults/probe-folder.ts';
import { addFileRoutes } from './files/routes.ts';
import type { Foundation } from './foundation.ts';
import { periodically } from './periodically.ts';
import type { GitProgram } from './git/git-program.ts';
import { prepareGit, probeGit } from './git/prepare-git.ts';
import { addGitRoutes } from './git-http/routes.ts';
import { ParameterChecker } from './launches/parameters/parameter-checker.ts';
import { deleteProject } from './projects/delete-project.ts';
import { createGetLaunchable, type GetLaunchable } from './projects/project-files.ts';
import { createProjectAccess } from './projects/project-access.ts';
import type { ProjectDesk } from './projects/project-desk.ts';
import type { ProjectPeople } from './projects/project-people.ts';
import { FolderLargePacks } from './projects/folder-large-packs.ts';
import type { LargePacks } from './projects/large-packs.ts';
import { createPackLogStore } from './projects/pack-log-store.ts';
import { ProjectRepositories } from './projects/project-repositories.ts';
import { ProjectSizes, ProjectTotals } from './projects/project-sizes.ts';
import { addProjectRoutes } from './projects/routes.ts';
import { S3LargePacks } from './projects/s3-large-packs.ts';
import { createProjectStore } from './projects/store.ts';
import { takeUpRepositories } from './projects/take-up-repositories.ts';
import type { Bucket } from './s3/bucket.ts';
import { Spool } from './s3/spool.ts';

/** Nobody waits for what is swept. */
const sweepMs = 60 * 60 * 1000;

interface ProjectOptions {
  /** Where git is looked for. */
  searchPath: string;
  /** Whether to refuse to start where the operating system does not hold git and the compiler. */
  requireConfinement: boolean;
  compiler: ProjectDesk['compiler'];
  people: ProjectPeople;
  /** Where large packs are; none: in the data folder. */
  bucket: Bucket | undefined;
  /** Told after a project is gone. */
  onDeleted: (projectId: string) => Promise<void>;
}

export interface ProjectFeatures {
  readonly getLaunchable: GetLaunchable;
  listOwned(userId: string): Promise<string[]>;
  /** With files and commits. False when it was gone already. */
  deleteProject(id: string): Promise<boolean>;
}

/** The operator reads at every start what holds the server's own work, and what does not. */
function tellOfConfinement(git: GitProgram, isRequired: boolean, log: Logger): void {
  const { unconfinedBecause } = git;
  if (unconfinedBecause === undefined) {
    log.info(
      'Git, compiling and large bodies reach their own files alone, have no network and limited memory.',
    );
  } else if (isRequired) {
    throw new SettingError(`PHALANX_REQUIRE_CONFINEMENT is true, but: ${unconfinedBecause}`);
  } else log.warn(unconfinedBecause);
}

async function openLargePacks(
  { dataDir, faults }: Foundation,
  bucket: Bucket | undefined,
): Promise<LargePacks> {
  const folder = path.resolve(dataDir, 'project-packs');
  const large =
    bucket === undefined
      ? await FolderLargePacks.open(folder)
      : S3LargePacks.open(bucket, await Spool.open(path.join(folder, 'incoming')));
  faults.addProbe('disk', probeOfPart(folder));
  return large;
}

/** Large packs of no project go: at the start, which does not wait for it, and from then on. */
function sweepPacks({ app, database, faults }: Foundation, repositories: ProjectRepositories): void {
  const sweep = byOneServer(database, 'remove large packs', () => repositories.sweep());
  const swept = repositories
    .noteStrays()
    .then(sweep)
    .catch((error: unknown) => faults.report(error, 'large packs of no project could not be removed'));
  const endSweeps = periodically(faults, sweepMs, sweep);
  app.addHook('onClose', () => swept);
  app.addHook('onClose', endSweeps);
}

/** Projects with everything that belongs to them: files, commits, git clients. Throws a `SettingError` without a git that will do. */
export async function openProjectFeatures(
  foundation: Foundation,
  { searchPath, requireConfinement, compiler, people, bucket, onDeleted }: ProjectOptions,
): Promise<ProjectFeatures> {
  const { app, database, dataDir, authenticator, addressOf, limits, clock, log, faults } = foundation;
  const { commits, confinement, audit } = foundation;
  const git = await prepareGit(path.resolve(dataDir, 'git'), searchPath, confinement);
  tellOfConfinement(git, requireConfinement, log);
  faults.addProbe('git', () => probeGit(git));
  const store = createProjectStore(database);
  const packLog = createPackLogStore(database, commits);
  const large = await openLargePacks(foundation, bucket);
  const sizes: ProjectSizes = new ProjectSizes({
    ...{ store, limits },
    onFull: (id) => repositories.tidySoon(id),
  });
  const onTidied = (id: string, bytes: number): Promise<void> => sizes.measured(id, bytes);
  await takeUpRepositories(path.resolve(dataDir, 'projects'), { git, store: packLog, large, log });
  const repositories = new ProjectRepositories({
    ...{ git, store: packLog, large, clock, log, onTidied },
    cacheFolder: path.resolve(dataDir, 'project-cache'),
  });
  app.addHook('onClose', () => repositories.close());
  const ids = await store.listIds();
  await repositories.open((id) => ids.has(id));
  sweepPacks(foundation, repositories);
  const access = createProjectAccess(store);
  const parameters = new ParameterChecker(limits.turns.parameters);
  app.addHook('onClose', () => parameters.close());
  const desk = { repositories, compiler, parameters, totals: new ProjectTotals(), sizes };
  addProjectRoutes(app, { store, access, people, repositories, clock, limits, onDeleted });
  await addFileRoutes(app, { access, desk, confinement, limits });
  addCommitRoutes(app, { access, desk, clock, limits });
  const { authenticate } = authenticator;
  await addGitRoutes(app, { authenticate, addressOf, limits, access, desk, audit, log });
  return {
    getLaunchable: createGetLaunchable(access, repositories),
    listOwned: (userId) => store.listOwned(userId),
    deleteProject: (id) => deleteProject({ people, repositories, onDeleted }, id),
  };
}
