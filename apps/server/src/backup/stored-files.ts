import { capturePath } from '../captures/capture-path.ts';
import { keptLogPath } from '../logs/kept/folder-chunks.ts';
import { largePackPaths } from '../projects/large-packs.ts';
import type { BackupStore } from './store.ts';

/** A file of the data folder. */
export interface StoredFile {
  /** Below the data folder. */
  readonly path: string;
  /** Without it something is lost. */
  readonly isNeeded: boolean;
  /** What is there never changes, and may be linked. */
  readonly isFinal: boolean;
}

const needed = (path: string): StoredFile => ({ path, isNeeded: true, isFinal: true });

/** What is elsewhere than in the data folder. */
interface Elsewhere {
  /** Kept logs are in PostgreSQL. */
  readonly hasLogs: boolean;
  /** Captures and large packs are in S3. */
  readonly hasObjects: boolean;
}

/** The files of the data folder that rows name. */
export async function* listStoredFiles(
  store: BackupStore,
  { hasLogs, hasObjects }: Elsewhere,
): AsyncGenerator<StoredFile> {
  if (!hasObjects) yield* listObjects(store);
  if (hasLogs) return;
  for (const runId of await store.listKeptLogs())
    yield { path: `run-logs/${keptLogPath(runId)}`, isNeeded: true, isFinal: false };
}

/** Captures and large packs: their names in the data folder, and in a bucket. */
export async function* listObjects(store: BackupStore): AsyncGenerator<StoredFile> {
  for await (const screens of store.listScreens())
    for (const screen of screens)
      for (const kind of ['tree', 'screenshot'] as const)
        if (screen[kind] === 'stored') {
          const key = { recordId: screen.record_id, screenId: screen.screen_id, kind };
          yield needed(`captures/${capturePath(key)}`);
        }
  yield* (await store.listLargePacks()).flatMap(packFiles).map(needed);
  // Rows of a copy of PostgreSQL that is some days older name them.
  for (const path of (await store.listRemovedPacks()).flatMap(packFiles))
    yield { path, isNeeded: false, isFinal: true };
}

const packFiles = (key: string): string[] => largePackPaths(key).map((name) => `project-packs/${name}`);

/** Files that no row names. */
export const ownFiles: readonly StoredFile[] = [
  { path: 'capture-url.key', isNeeded: true, isFinal: false },
  { path: 'first-token', isNeeded: false, isFinal: false },
];
