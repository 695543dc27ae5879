import { buffer } from 'node:stream/consumers';
import type { Captures } from '../../../runs/captures/captures.ts';
import type { Db } from '../../../storage/db/database.ts';
import { listGoldenPaths, readGoldenFile, type SavedFiles } from '../../../code/projects/project-files.ts';
import { createKeptScreens, type KeptScreens } from '../groups/prints/kept-screens.ts';

/** Batches of the trees of screens on which signs are tried. */
export type Batches = AsyncGenerator<Uint8Array[]>;

interface Group {
  id: string;
  owner_id: string;
  automation_id: string;
}

export interface SavedScreens {
  /** Reads the kept screens of the group itself. */
  ofGroup(group: Group): Promise<Uint8Array[]>;
  /** Reads kept screens of other groups, golden screens of other states, and recognised screens of records. */
  ofOthers(group: Group, golden: { files: SavedFiles | undefined; state: string }): Batches;
}

const maxOfGroup = 24;
const maxKept = 2000;
const maxGolden = 500;
const maxRecognised = 200;
const batchSize = 50;
const maxBatchBytes = 4 * 1024 * 1024;
const maxTreeBytes = 1024 * 1024;

export function createSavedScreens(db: Db, captures: Pick<Captures, 'find'>): SavedScreens {
  const kept = createKeptScreens(db);
  return {
    async ofGroup(group) {
      const listed = await kept.list(automationOf(group), { groupId: group.id });
      const keys = listed.map(({ print_key: key }) => key);
      return readKept(kept, group, keys.slice(0, maxOfGroup));
    },
    async *ofOthers(group, golden) {
      yield* batched(keptOfOthers(kept, group));
      yield* batched(goldenOfOthers(golden));
      yield* batched(recognised(db, captures, group));
    },
  };
}

const automationOf = ({ owner_id: ownerId, automation_id: automationId }: Group) => ({
  ownerId,
  automationId,
});

async function readKept(kept: KeptScreens, group: Group, keys: readonly string[]): Promise<Uint8Array[]> {
  const trees = await kept.readTrees(automationOf(group), keys);
  return [...trees.values()].map((tree) => Buffer.from(tree));
}

async function* keptOfOthers(kept: KeptScreens, group: Group): AsyncGenerator<Uint8Array> {
  const listed = await kept.list(automationOf(group), 'all');
  const others = listed.filter(({ group_id: id }) => id !== group.id).slice(0, maxKept);
  for (let first = 0; first < others.length; first += batchSize) {
    const keys = others.slice(first, first + batchSize).map(({ print_key: key }) => key);
    yield* await readKept(kept, group, keys);
  }
}

async function* goldenOfOthers({
  files,
  state,
}: {
  files: SavedFiles | undefined;
  state: string;
}): AsyncGenerator<Uint8Array> {
  if (files === undefined) return;
  for (const path of await listGoldenPaths(files, maxGolden)) {
    const golden = await readGoldenFile(files, path);
    // The sign is meant to hold on golden screens of that state.
    if (!('problem' in golden) && golden.expect.state !== state)
      yield Buffer.from(JSON.stringify(golden.tree));
  }
}

async function* recognised(
  db: Db,
  captures: Pick<Captures, 'find'>,
  group: Group,
): AsyncGenerator<Uint8Array> {
  for (const screen of await listRecognised(db, automationOf(group), maxRecognised)) {
    const key = { recordId: screen.record_id, screenId: screen.screen_id, kind: 'tree' } as const;
    const found = await captures.find(key);
    if (found !== undefined && found.sizeBytes <= maxTreeBytes) yield await buffer(found.read());
  }
}

async function* batched(trees: AsyncGenerator<Uint8Array>): Batches {
  let batch: Uint8Array[] = [];
  let bytes = 0;
  for await (const tree of trees) {
    batch.push(tree);
    bytes += tree.length;
    if (batch.length < batchSize && bytes < maxBatchBytes) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}

interface RecognisedScreen {
  record_id: string;
  screen_id: string;
  screen_state: string;
}

const newestRecords = 100;
const maxOfState = 5;

/** Lists screens with a tree that the automation has recognised in its newest records, some of each state. */
async function listRecognised(
  db: Db,
  { ownerId, automationId }: { ownerId: string; automationId: string },
  maxCount: number,
): Promise<RecognisedScreen[]> {
  const records = db
    .selectFrom('record')
    .select('id')
    .where('owner_id', '=', ownerId)
    .where('automation_id', '=', automationId)
    .orderBy('id', 'desc')
    .limit(newestRecords);
  const rows = await db
    .selectFrom('record_screen')
    .select(['record_id', 'screen_id', 'screen_state'])
    .where('record_id', 'in', records)
    .where('tree', '=', 'stored')
    .where((eb) => eb(eb.fn<string>('lower', ['screen_state']), '!=', 'unknown'))
    .orderBy('record_id', 'desc')
    .orderBy('position', 'desc')
    .execute();
  const byState = Map.groupBy(rows, ({ screen_state: state }) => state);
  return [...byState.values()].flatMap((screens) => screens.slice(0, maxOfState)).slice(0, maxCount);
}
