import { type GoldenExpectation, isUnknownState } from '@phalanx/protocol';
import type { Limits } from '../../kernel/limits/limits.ts';
import {
  listGoldenPaths,
  readGoldenFile,
  createProjectFiles,
  type SavedFiles,
} from '../../code/projects/project-files.ts';
import type { ProjectRepositories } from '../../code/projects/repositories/project-repositories.ts';
import type { KeptScreens } from '../records/groups/prints/kept-screens.ts';
import type { StoredReplay } from './store.ts';

/** Screen of the set, without its tree. */
export interface SetScreen {
  kind: 'group' | 'golden';
  name: string;
  groupId: string | null;
  /** Stage at which the code begins. */
  stage: string | null;
  /** Whether the screen counts as known until a replay shows otherwise. */
  wasKnown: boolean;
}

/** Screen with its content, or with the problem when it cannot be read. */
export interface ReadableScreen extends SetScreen {
  expect: GoldenExpectation | null;
  treeJson: string;
  problem: string;
}

const maxGolden = 1000;
const automationOf = ({ owner_id: ownerId, project_id: automationId }: StoredReplay) => ({
  ownerId,
  automationId,
});

export async function listScreens(
  keptScreens: KeptScreens,
  replay: StoredReplay,
  files: SavedFiles,
): Promise<SetScreen[]> {
  const { screen_set: set, group_id: groupId } = replay;
  const wish = groupId === null ? (set === 'open' ? 'open' : 'all') : { groupId };
  const hasGolden = groupId === null && set !== 'open';
  const hasKept = groupId !== null || set !== 'golden';
  const kept = hasKept ? await keptScreens.list(automationOf(replay), wish) : [];
  const golden = hasGolden ? await listGoldenPaths(files, maxGolden) : [];
  return [
    ...golden.map((name) => ({
      kind: 'golden' as const,
      name,
      groupId: null,
      stage: null,
      wasKnown: true,
    })),
    ...kept.map((screen) => ({
      kind: 'group' as const,
      name: screen.print_key,
      groupId: screen.group_id,
      stage: screen.next_stage,
      wasKnown: !isUnknownState(screen.screen_state),
    })),
  ];
}

/** Reads screens. Omits those of groups that were deleted in the meantime. */
export async function readScreens(
  keptScreens: KeptScreens,
  replay: StoredReplay,
  { files, screens }: { files: SavedFiles; screens: readonly SetScreen[] },
): Promise<ReadableScreen[]> {
  const keys = screens.filter(({ kind }) => kind === 'group').map(({ name }) => name);
  const trees = await keptScreens.readTrees(automationOf(replay), keys);
  const read: ReadableScreen[] = [];
  for (const screen of screens) {
    if (screen.kind === 'golden') read.push(await readGolden(screen, files));
    else {
      const treeJson = trees.get(screen.name);
      if (treeJson !== undefined) read.push({ ...screen, treeJson, expect: null, problem: '' });
    }
  }
  return read;
}

async function readGolden(screen: SetScreen, files: SavedFiles): Promise<ReadableScreen> {
  const read = await readGoldenFile(files, screen.name);
  if ('problem' in read) return { ...screen, expect: null, treeJson: '', problem: read.problem };
  const { tree, expect } = read;
  return { ...screen, expect, stage: expect.stage ?? null, treeJson: JSON.stringify(tree), problem: '' };
}

const maxCompared = 200;

/** Lists the trees and states of the golden screens in the saved code. Omits unreadable ones. */
export async function listGoldenTrees(
  repositories: ProjectRepositories,
  { projectId, ownerId }: { projectId: string; ownerId: string },
  { turns }: Pick<Limits, 'turns'>,
): Promise<{ path: string; state: string | undefined; json: string }[]> {
  const read: Parameters<typeof createProjectFiles>[2] = (work) =>
    turns.git.run(ownerId, () => repositories.read(projectId, work));
  const treeId = await repositories.read(projectId, async (_, { files }) => files);
  const files = createProjectFiles(projectId, treeId, read);
  const golden = [];
  for (const path of await listGoldenPaths(files, maxCompared)) {
    const screen = await readGoldenFile(files, path);
    if ('problem' in screen) continue;
    golden.push({ path, state: screen.expect.state, json: JSON.stringify(screen.tree) });
  }
  return golden;
}
