import {
  goldenPathPattern,
  type GoldenScreen,
  GoldenScreenError,
  maxGoldenBytes,
  parseGolden,
} from '@phalanx/protocol';

import type { ProjectFiles } from '../compile/project-mirror.ts';
import type { GitObjects } from '../git/git-objects.ts';
import { findAt, listFiles } from '../git/tree-paths.ts';
import type { Principal } from '../../http/requests/principal.ts';
import { editors, type ProjectAccess } from './project-access.ts';
import type { ProjectRepositories } from './repositories/project-repositories.ts';
import { emptyTree, isDirty } from './saved-state.ts';
import type { Compiler } from '../compile/compiler.ts';
import type { ProjectSizes } from './project-sizes.ts';
import type { ProjectTotals } from './project-totals.ts';
import { findExcess, jsonBounds } from '../../http/requests/bodies/json-bounds.ts';

/** Runs work on a project's repository. */
type ReadRepository = <Result>(work: (repository: GitObjects) => Promise<Result>) => Promise<Result>;

/** File of a project: its text, or its size when it is too large to be read. */
type ReadFile = { readonly text: string } | { readonly sizeBytes: number };

/** Files of a project as stored in git. */
export interface SavedFiles extends ProjectFiles {
  /** Reads a file of up to `maxBytes`. Returns only the size of a larger file. Undefined when there is no such file. */
  readUpTo(path: string, maxBytes: number): Promise<ReadFile | undefined>;
}

/**
 * Creates the compiler's view of one tree of a project. A tree is immutable, so later writes do not change the view.
 */
export function createProjectFiles(
  projectId: string,
  treeId: string | undefined,
  read: ReadRepository,
): SavedFiles {
  return {
    projectId,
    treeId: treeId ?? emptyTree,
    list: () =>
      read(async (repository) => {
        const files = await listFiles(repository, treeId);
        return new Map(Array.from(files, ([path, entry]) => [path, entry.id]));
      }),
    read: (path) =>
      read(async (repository) => {
        const found = await findAt(repository, treeId, path);
        return found.kind === 'file' ? (await repository.readBlob(found.entry.id)).toString() : undefined;
      }),
    readUpTo: (path, maxBytes) =>
      read(async (repository) => {
        const found = await findAt(repository, treeId, path);
        if (found.kind !== 'file') return undefined;
        const { id } = found.entry;
        const { sizeBytes = 0 } = (await repository.findInfo(id)) ?? {};
        return sizeBytes > maxBytes ? { sizeBytes } : { text: (await repository.readBlob(id)).toString() };
      }),
  };
}

/** Snapshot of a project. Later writes do not change it. */
export interface Launchable {
  readonly projectId: string;
  readonly ownerId: string;
  readonly name: string;
  /** Hash of the newest commit. */
  readonly commit: string | null;
  /** Whether the files differ from those of `commit`. */
  readonly dirty: boolean;
  readonly files: SavedFiles;
}

export type GetLaunchable = (projectId: string, principal: Principal) => Promise<Launchable>;

/**
 * Creates the function that finds a project to launch. Throws `project_not_found` for viewers too, because launching
 * requires an editor.
 */
export function createGetLaunchable(access: ProjectAccess, repositories: ProjectRepositories): GetLaunchable {
  return async (projectId, principal) => {
    const { id, name, owner_id: ownerId } = await access.getProject(principal, projectId, editors);
    return repositories.read(id, async (repository, state) => {
      return {
        projectId: id,
        ownerId,
        name,
        commit: state.head ?? null,
        dirty: await isDirty(repository, state),
        files: {
          ...createProjectFiles(id, state.files, (work) => repositories.read(id, work)),
          userId: principal.userId,
        },
      };
    });
  };
}

/**
 * Services for the files of projects, shared by all users. `forUser` adds the compiler and the parameters of one user.
 */
export interface SharedServices {
  readonly repositories: ProjectRepositories;
  readonly totals: ProjectTotals;
  readonly sizes: Pick<ProjectSizes, 'add'>;
  readonly forUser: (userId: string) => ProjectServices;
}

/** Services for the work of one user. Their work queues in the turns of that user. */
export interface ProjectServices extends Omit<SharedServices, 'forUser'> {
  readonly compiler: Pick<Compiler, 'compileFile' | 'compileProject' | 'assist'>;
  readonly parameters: { findSchemaProblem(schema: string): Promise<string | undefined> };
}

/** Services as their features provide them, for any user. */
export interface ServiceParts extends Omit<ProjectServices, 'parameters'> {
  readonly parameters: { findSchemaProblem(schema: string, userId: string): Promise<string | undefined> };
}

export const shareServices = ({ compiler, parameters, ...shared }: ServiceParts): SharedServices => ({
  ...shared,
  forUser: (userId) => ({
    ...shared,
    compiler: {
      compileFile: (files, change) => compiler.compileFile({ ...files, userId }, change),
      assist: (files, change) => compiler.assist({ ...files, userId }, change),
      compileProject: (files) => compiler.compileProject({ ...files, userId }),
    },
    parameters: { findSchemaProblem: (schema) => parameters.findSchemaProblem(schema, userId) },
  }),
});

/** Lists the sorted paths of golden screens, up to `maxCount`. */
export const listGoldenPaths = async (files: SavedFiles, maxCount: number): Promise<string[]> =>
  [...(await files.list()).keys()]
    .filter((path) => goldenPathPattern.test(path))
    .toSorted()
    .slice(0, maxCount);

/** Reads a golden screen, or returns why it can't be read. */
export async function readGoldenFile(
  files: SavedFiles,
  path: string,
): Promise<GoldenScreen | { problem: string }> {
  const file = await files.readUpTo(path, maxGoldenBytes);
  if (file === undefined || !('text' in file)) return { problem: `is larger than ${maxGoldenBytes} bytes` };
  const excess = findExcess(Buffer.from(file.text), jsonBounds.goldenScreen);
  if (excess !== undefined) return { problem: excess };
  try {
    return parseGolden(file.text);
  } catch (error) {
    if (error instanceof GoldenScreenError) return { problem: error.message };
    throw error;
  }
}
