import { capturePath, capturesName } from '../captures/captures.ts';
import { blobOfPart } from '../film/film-notes.ts';
import { largePackPaths, largePacksName } from '../projects/packs/large-packs.ts';
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

/** Captures, files and films of runs, and large packs: their names in the data folder, and in a bucket. */
export async function* listObjects(store: BackupStore): AsyncGenerator<StoredFile> {
  for await (const screens of store.listScreens())
    for (const screen of screens)
      for (const kind of ['tree', 'screenshot'] as const)
        if (screen[kind] === 'stored') {
          const key = { recordId: screen.record_id, screenId: screen.screen_id, kind };
          yield needed(`${capturesName}/${capturePath(key)}`);
        }
  for await (const files of store.listRunFiles())
    for (const { run_id: recordId, file_id: screenId } of files)
      yield needed(`${capturesName}/${capturePath({ recordId, screenId, kind: 'file' })}`);
  for await (const parts of store.listFilmParts())
    for (const part of parts) yield needed(`${capturesName}/${capturePath(blobOfPart(part))}`);
  yield* (await store.listLargePacks()).flatMap(packFiles).map(needed);
  // Rows of a copy of PostgreSQL that is some days older name them.
  for (const path of (await store.listRemovedPacks()).flatMap(packFiles))
    yield { path, isNeeded: false, isFinal: true };
}

const packFiles = (key: string): string[] => largePackPaths(key).map((name) => `${largePacksName}/${name}`);

/** Files that no row names. */
export const ownFiles: readonly StoredFile[] = [{ path: 'first-token', isNeeded: false, isFinal: false }];
