import type { FileSystem } from './file-system.ts';

const ofApps = /^\/sdcard\/Android\/(?:data|obb)\//;

/** The index of the files that apps share: a file that was written by ADB is in it once it has been scanned. */
export class MediaStore {
  readonly #files: FileSystem;
  readonly #ids = new Map<string, number>();
  #lastId = 30;

  constructor(files: FileSystem) {
    this.#files = files;
  }

  /** Returns the ID of the file; undefined when it is not there, or in no place of which there is an index. */
  scan(path: string): number | undefined {
    const resolved = this.#files.resolve(path);
    const isThere = this.#files.findStat(resolved) !== undefined && !this.#files.isDirectory(resolved);
    if (!isThere) this.#ids.delete(resolved);
    if (!isThere || !resolved.startsWith('/sdcard/') || ofApps.test(resolved)) return undefined;
    const id = this.#ids.get(resolved) ?? (this.#lastId += 1);
    this.#ids.set(resolved, id);
    return id;
  }

  find(path: string): number | undefined {
    return this.#ids.get(this.#files.resolve(path));
  }

  /** Paths as the column `_data` has them. */
  list(): { readonly id: number; readonly path: string }[] {
    return [...this.#ids].map(([path, id]) => ({
      id,
      path: path.replace(/^\/sdcard/, '/storage/emulated/0'),
    }));
  }
}
