import { posix } from 'node:path';
import type { Boot } from './boot.ts';
import { type FileStat, FileSystemError, type SyncFiles, type Upload } from '../adb/sync-files.ts';

const directoryMode = 0o040771;
const regularMode = 0o100000;
const writableRoots = ['/data/local/tmp', '/sdcard'];

/** Other names of the shared storage. */
const sharedStorage = /^\/(?:storage\/emulated\/0|storage\/self\/primary|mnt\/sdcard)(?=\/|$)/;

interface StoredFile {
  readonly content: Buffer;
  readonly mode: number;
  readonly modifiedSeconds: number;
}

const nowSeconds = () => Math.floor(Date.now() / 1000);
const isInside = (path: string, root: string) => path === root || path.startsWith(`${root}/`);

/** The phone's files, in memory. Only /sdcard and /data/local/tmp can be written, as for adb's user. */
export class FileSystem implements SyncFiles {
  readonly #files = new Map<string, StoredFile>();
  readonly #directories = new Set(['/', '/data', '/data/local', '/system', '/system/bin', ...writableRoots]);
  readonly #capacityBytes: number;
  readonly #findBoot: () => Boot;
  #usedBytes = 0;

  constructor(capacityBytes: number, findBoot: () => Boot) {
    this.#capacityBytes = capacityBytes;
    this.#findBoot = findBoot;
    for (const name of ['DCIM', 'Download', 'Pictures']) this.#directories.add(`/sdcard/${name}`);
  }

  resolve(path: string): string {
    return posix.resolve('/', path).replace(sharedStorage, '/sdcard');
  }

  isDirectory(path: string): boolean {
    return this.#directories.has(this.resolve(path));
  }

  findStat(path: string): FileStat | undefined {
    const resolved = this.resolve(path);
    const file = this.#files.get(resolved);
    if (file) return { ...file, sizeBytes: file.content.length };
    if (!this.#directories.has(resolved)) return undefined;
    return { mode: directoryMode, sizeBytes: 4096, modifiedSeconds: nowSeconds() };
  }

  listDirectory(path: string): { name: string; stat: FileStat }[] {
    const resolved = this.resolve(path);
    const prefix = resolved === '/' ? '/' : `${resolved}/`;
    return [...this.#directories, ...this.#files.keys()]
      .filter(
        (entry) => entry.startsWith(prefix) && entry !== '/' && !entry.slice(prefix.length).includes('/'),
      )
      .sort()
      .map((entry) => ({ name: entry.slice(prefix.length), stat: this.findStat(entry) }))
      .filter((entry): entry is { name: string; stat: FileStat } => entry.stat !== undefined);
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  get capacityBytes(): number {
    return this.#capacityBytes;
  }

  readFile(path: string): Buffer {
    const fromKernel = this.#readProc(this.resolve(path));
    if (fromKernel !== undefined) return Buffer.from(fromKernel);
    const file = this.#files.get(this.resolve(path));
    if (file) return file.content;
    throw new FileSystemError(this.isDirectory(path) ? 'Is a directory' : 'No such file or directory');
  }

  writeFile(path: string, content: Buffer, options: { mode?: number; modifiedSeconds?: number } = {}): void {
    const resolved = this.resolve(path);
    this.#requireWritable(resolved);
    if (this.#directories.has(resolved)) throw new FileSystemError('Is a directory');
    const parent = posix.dirname(resolved);
    if (!this.#directories.has(parent)) throw new FileSystemError('No such file or directory');
    const replacedBytes = this.#files.get(resolved)?.content.length ?? 0;
    if (this.#usedBytes - replacedBytes + content.length > this.#capacityBytes) {
      throw new FileSystemError('No space left on device');
    }
    this.#usedBytes += content.length - replacedBytes;
    const mode = regularMode | ((options.mode ?? 0o644) & 0o777);
    this.#files.set(resolved, { content, mode, modifiedSeconds: options.modifiedSeconds ?? nowSeconds() });
  }

  appendFile(path: string, content: Buffer): void {
    const before = this.#files.get(this.resolve(path))?.content ?? Buffer.alloc(0);
    this.writeFile(path, Buffer.concat([before, content]));
  }

  makeDirectory(path: string, withParents: boolean): void {
    const resolved = this.resolve(path);
    if (this.#files.has(resolved) || (this.#directories.has(resolved) && !withParents)) {
      throw new FileSystemError('File exists');
    }
    if (this.#directories.has(resolved)) return;
    this.#requireWritable(resolved);
    const parent = posix.dirname(resolved);
    if (!this.#directories.has(parent)) {
      if (!withParents) throw new FileSystemError('No such file or directory');
      this.makeDirectory(parent, true);
    }
    this.#directories.add(resolved);
  }

  remove(path: string, recursive: boolean): void {
    const resolved = this.resolve(path);
    if (!this.findStat(resolved)) throw new FileSystemError('No such file or directory');
    if (this.#directories.has(resolved) && !recursive) throw new FileSystemError('Is a directory');
    this.#requireWritable(resolved);
    for (const [file, { content }] of [...this.#files]) {
      if (!isInside(file, resolved)) continue;
      this.#usedBytes -= content.length;
      this.#files.delete(file);
    }
    for (const directory of [...this.#directories]) {
      if (isInside(directory, resolved) && !writableRoots.includes(directory))
        this.#directories.delete(directory);
    }
  }

  /** Like adbd, makes the missing folders above the file. */
  startUpload(path: string, mode: number): Upload {
    const parts: Buffer[] = [];
    let uploadedBytes = 0;
    return {
      append: (data) => {
        uploadedBytes += data.length;
        // Beyond the capacity the data is read and forgotten; finish() then reports the reason.
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

  /** What the kernel tells of itself. */
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
