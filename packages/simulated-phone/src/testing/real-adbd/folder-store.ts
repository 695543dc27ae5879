import * as fs from 'node:fs';
import { join } from 'node:path';
import type { FileStore, StoredFile } from '../../android/file-system.ts';

/** User ID of adbd. Files written by the phone must belong to it as well, because both are the shell on a phone. */
const shellUser = 2000;
const kept = ['/sdcard', '/data/local/tmp'];
const readOnly = ['/', '/data', '/data/local', '/system', '/system/bin'];

/** Files shared with a real adbd: both sides see each other's changes. */
export class FolderStore implements FileStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  findFile(path: string): StoredFile | undefined {
    if (!isKept(path)) return undefined;
    const stat = fs.statSync(this.#at(path), { throwIfNoEntry: false });
    if (stat?.isFile() !== true) return undefined;
    const modifiedSeconds = Math.floor(stat.mtimeMs / 1000);
    return { content: fs.readFileSync(this.#at(path)), mode: stat.mode, modifiedSeconds };
  }

  putFile(path: string, { content, mode, modifiedSeconds }: StoredFile): void {
    fs.writeFileSync(this.#at(path), content);
    fs.chmodSync(this.#at(path), mode & 0o777);
    fs.utimesSync(this.#at(path), modifiedSeconds, modifiedSeconds);
    fs.chownSync(this.#at(path), shellUser, shellUser);
  }

  removeFile(path: string): void {
    fs.rmSync(this.#at(path), { force: true });
  }

  listFiles(): readonly string[] {
    return this.#list((entry) => entry.isFile());
  }

  hasDirectory(path: string): boolean {
    if (!isKept(path)) return readOnly.includes(path);
    return fs.statSync(this.#at(path), { throwIfNoEntry: false })?.isDirectory() === true;
  }

  addDirectory(path: string): void {
    if (!isKept(path)) return;
    fs.mkdirSync(this.#at(path), { recursive: true });
    fs.chownSync(this.#at(path), shellUser, shellUser);
  }

  removeDirectory(path: string): void {
    if (fs.existsSync(this.#at(path))) fs.rmdirSync(this.#at(path));
  }

  listDirectories(): readonly string[] {
    return [...readOnly, ...kept, ...this.#list((entry) => entry.isDirectory())];
  }

  #list(isWanted: (entry: fs.Dirent) => boolean): string[] {
    return kept.flatMap((root) =>
      fs
        .readdirSync(this.#at(root), { recursive: true, withFileTypes: true })
        .filter(isWanted)
        .map((entry) => join(entry.parentPath, entry.name).slice(this.#folder.length)),
    );
  }

  #at(path: string): string {
    return join(this.#folder, path);
  }
}

function isKept(path: string): boolean {
  return kept.some((root) => path === root || path.startsWith(`${root}/`));
}
