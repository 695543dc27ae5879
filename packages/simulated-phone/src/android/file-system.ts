import { posix } from 'node:path';
import { type FileStat, FileSystemError, type SyncFiles, type Upload } from '../adb/services.ts';
import type { Boot } from './boot.ts';

const directoryMode = 0o040771;
const regularMode = 0o100000;
const writableRoots = ['/data/local/tmp', '/sdcard'];

/** Aliases of the shared storage. */
const sharedStorage = /^\/(?:storage\/emulated\/0|storage\/self\/primary|mnt\/sdcard)(?=\/|$)/;

/** Storage in bytes that Android and its apps occupy. */
const systemBytes = 44e9;

const nowSeconds = () => Math.floor(Date.now() / 1000);
const isInside = (path: string, root: string) => path === root || path.startsWith(`${root}/`);

/** Files of the phone. Only /sdcard and /data/local/tmp are writable, as for adb's user. */
export class FileSystem implements SyncFiles {
  #store: FileStore = new MemoryStore([
    '/',
    '/data',
    '/data/local',
    '/system',
    '/system/bin',
    ...writableRoots,
  ]);
  /** Size of the apps' caches in bytes, which Android may delete. */
  cacheBytes = 0;
  readonly #forbidden = new Set<string>();
  readonly #capacityBytes: number;
  readonly #findBoot: () => Boot;

  constructor(capacityBytes: number, findBoot: () => Boot) {
    this.#capacityBytes = capacityBytes;
    this.#findBoot = findBoot;
    for (const name of ['DCIM', 'Download', 'Pictures']) this.#store.addDirectory(`/sdcard/${name}`);
  }

  /** Moves all files to another store, which is used from then on. */
  moveTo(store: FileStore): void {
    for (const path of this.#store.listDirectories()) store.addDirectory(path);
    for (const path of this.#store.listFiles()) {
      const file = this.#store.findFile(path);
      if (file) store.putFile(path, file);
    }
    this.#store = store;
  }

  resolve(path: string): string {
    return posix.resolve('/', path).replace(sharedStorage, '/sdcard');
  }

  isDirectory(path: string): boolean {
    return this.#store.hasDirectory(this.resolve(path));
  }

  findStat(path: string): FileStat | undefined {
    const resolved = this.resolve(path);
    // The kernel creates these files when they are read.
    if (this.#readProc(resolved) !== undefined)
      return { mode: regularMode | 0o444, sizeBytes: 0, modifiedSeconds: nowSeconds() };
    const file = this.#store.findFile(resolved);
    if (file) return { ...file, sizeBytes: file.content.length };
    if (!this.#store.hasDirectory(resolved)) return undefined;
    return { mode: directoryMode, sizeBytes: 4096, modifiedSeconds: nowSeconds() };
  }

  /** Lists a folder. Throws if adb's user may not read it. */
  listDirectory(path: string): { name: string; stat: FileStat }[] {
    this.#requireReadable(path);
    const resolved = this.resolve(path);
    const prefix = resolved === '/' ? '/' : `${resolved}/`;
    return [...this.#store.listDirectories(), ...this.#store.listFiles()]
      .filter(
        (entry) => entry.startsWith(prefix) && entry !== '/' && !entry.slice(prefix.length).includes('/'),
      )
      .sort()
      .map((entry) => ({ name: entry.slice(prefix.length), stat: this.findStat(entry) }))
      .filter((entry): entry is { name: string; stat: FileStat } => entry.stat !== undefined);
  }

  get usedBytes(): number {
    const sizes = this.#store.listFiles().map((path) => this.#store.findFile(path)?.content.length ?? 0);
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  /** Returns size and free space of the entire storage, as Android reports them. */
  get storage(): { readonly sizeBytes: number; readonly freeBytes: number } {
    const freeBytes = this.#capacityBytes - this.usedBytes - this.cacheBytes;
    return { sizeBytes: systemBytes + this.#capacityBytes, freeBytes };
  }

  /** Deletes caches until the given number of bytes is free or no cache is left. */
  trimCaches(wantedFreeBytes: number): void {
    const missing = Math.max(0, wantedFreeBytes - this.storage.freeBytes);
    this.cacheBytes = Math.max(0, this.cacheBytes - missing);
  }

  /**
   * Denies adb's user access to the content of a file or folder, whose existence stays visible, like files of another
   * user.
   */
  forbid(path: string): void {
    this.#forbidden.add(this.resolve(path));
  }

  isReadable(path: string): boolean {
    return this.findStat(path) !== undefined && !this.#forbidden.has(this.resolve(path));
  }

  #requireReadable(path: string): void {
    if (this.#forbidden.has(this.resolve(path))) throw new FileSystemError('Permission denied');
  }

  readFile(path: string): Buffer {
    this.#requireReadable(path);
    const fromKernel = this.#readProc(this.resolve(path));
    if (fromKernel !== undefined) return Buffer.from(fromKernel);
    const file = this.#store.findFile(this.resolve(path));
    if (file) return file.content;
    throw new FileSystemError(this.isDirectory(path) ? 'Is a directory' : 'No such file or directory');
  }

  writeFile(path: string, content: Buffer, options: { mode?: number; modifiedSeconds?: number } = {}): void {
    const resolved = this.resolve(path);
    this.#requireWritable(resolved);
    if (this.#store.hasDirectory(resolved)) throw new FileSystemError('Is a directory');
    const parent = posix.dirname(resolved);
    if (!this.#store.hasDirectory(parent)) throw new FileSystemError('No such file or directory');
    const replacedBytes = this.#store.findFile(resolved)?.content.length ?? 0;
    if (this.usedBytes - replacedBytes + content.length > this.#capacityBytes) {
      throw new FileSystemError('No space left on device');
    }
    const mode = regularMode | ((options.mode ?? 0o644) & 0o777);
    this.#store.putFile(resolved, {
      content,
      mode,
      modifiedSeconds: options.modifiedSeconds ?? nowSeconds(),
    });
  }

  appendFile(path: string, content: Buffer): void {
    const before = this.#store.findFile(this.resolve(path))?.content ?? Buffer.alloc(0);
    this.writeFile(path, Buffer.concat([before, content]));
  }

  makeDirectory(path: string, withParents: boolean): void {
    const resolved = this.resolve(path);
    if (
      this.#store.findFile(resolved) !== undefined ||
      (this.#store.hasDirectory(resolved) && !withParents)
    ) {
      throw new FileSystemError('File exists');
    }
    if (this.#store.hasDirectory(resolved)) return;
    this.#requireWritable(resolved);
    const parent = posix.dirname(resolved);
    if (!this.#store.hasDirectory(parent)) {
      if (!withParents) throw new FileSystemError('No such file or directory');
      this.makeDirectory(parent, true);
    }
    this.#store.addDirectory(resolved);
  }

  remove(path: string, recursive: boolean): void {
    const resolved = this.resolve(path);
    if (!this.findStat(resolved)) throw new FileSystemError('No such file or directory');
    if (this.#store.hasDirectory(resolved) && !recursive) throw new FileSystemError('Is a directory');
    this.#requireWritable(resolved);
    for (const file of this.#store.listFiles()) if (isInside(file, resolved)) this.#store.removeFile(file);
    // Starts with the innermost folder: a disk deletes only empty folders.
    for (const directory of this.#store.listDirectories().toSorted().toReversed()) {
      if (isInside(directory, resolved) && !writableRoots.includes(directory))
        this.#store.removeDirectory(directory);
    }
  }

  /** Starts an upload. Creates missing parent folders, like adbd. */
  startUpload(path: string, mode: number): Upload {
    const parts: Buffer[] = [];
    let uploadedBytes = 0;
    return {
      append: (data) => {
        uploadedBytes += data.length;
        // Beyond the capacity, data is discarded; finish() then reports the reason.
        if (uploadedBytes <= this.#capacityBytes) parts.push(data);
      },
      finish: (modifiedSeconds) => {
        try {
          if (uploadedBytes > this.#capacityBytes) throw new FileSystemError('No space left on device');
          this.makeDirectory(posix.dirname(this.resolve(path)), true);
          this.writeFile(path, Buffer.concat(parts), { mode, modifiedSeconds });
          return undefined;
        } catch (error) {
          if (error instanceof FileSystemError) return `couldn't create file: ${error.message}`;
          throw error;
        }
      },
    };
  }

  /** Returns the content of files under `/proc`. */
  #readProc(path: string): string | undefined {
    const boot = this.#findBoot();
    if (path === '/proc/sys/kernel/random/boot_id') return `${boot.id}\n`;
    if (path !== '/proc/uptime') return undefined;
    const uptime = boot.uptimeSeconds.toFixed(2);
    return `${uptime} ${uptime}\n`;
  }

  #requireWritable(resolved: string): void {
    if (writableRoots.some((root) => isInside(resolved, root))) return;
    throw new FileSystemError(isInside(resolved, '/data') ? 'Permission denied' : 'Read-only file system');
  }
}

export interface StoredFile {
  readonly content: Buffer;
  readonly mode: number;
  readonly modifiedSeconds: number;
}

/** Storage of a phone's files, by absolute path. */
export interface FileStore {
  findFile(path: string): StoredFile | undefined;
  putFile(path: string, file: StoredFile): void;
  removeFile(path: string): void;
  listFiles(): readonly string[];
  hasDirectory(path: string): boolean;
  addDirectory(path: string): void;
  removeDirectory(path: string): void;
  listDirectories(): readonly string[];
}

class MemoryStore implements FileStore {
  readonly #files = new Map<string, StoredFile>();
  readonly #directories: Set<string>;

  constructor(directories: readonly string[]) {
    this.#directories = new Set(directories);
  }

  findFile(path: string): StoredFile | undefined {
    return this.#files.get(path);
  }

  putFile(path: string, file: StoredFile): void {
    this.#files.set(path, file);
  }

  removeFile(path: string): void {
    this.#files.delete(path);
  }

  listFiles(): readonly string[] {
    return [...this.#files.keys()];
  }

  hasDirectory(path: string): boolean {
    return this.#directories.has(path);
  }

  addDirectory(path: string): void {
    this.#directories.add(path);
  }

  removeDirectory(path: string): void {
    this.#directories.delete(path);
  }

  listDirectories(): readonly string[] {
    return [...this.#directories];
  }
}
