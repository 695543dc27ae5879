import type { FileSystem } from './file-system.ts';

const ofApps = /^\/sdcard\/Android\/(?:data|obb)\//;

/** Index of the files that apps share. A file written through ADB is indexed once it has been scanned. */
export class MediaStore {
  readonly #files: FileSystem;
  readonly #ids = new Map<string, number>();
  #lastId = 30;

  constructor(files: FileSystem) {
    this.#files = files;
  }

  /** Indexes a file. Returns its ID; undefined if it is missing or outside of indexed folders. */
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

  /** Lists the indexed paths as in column `_data`. */
  list(): { readonly id: number; readonly path: string }[] {
    return [...this.#ids].map(([path, id]) => ({
      id,
      path: path.replace(/^\/sdcard/, '/storage/emulated/0'),
    }));
  }
}
