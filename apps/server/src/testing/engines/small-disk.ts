import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Sizes of blocks, large ones first: the last room is filled by blocks of the file system. */
const fillBytes = [1024 * 1024, 4096];

function mount(folder: string, ...options: string[]): boolean {
  try {
    execFileSync('mount', [...options, folder], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Fills until there is no room for a whole block. */
function fillBy(file: number, block: Buffer): void {
  try {
    for (;;) writeSync(file, block);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
  }
}

/** A small file system of its own that can be filled, and made read-only. */
export class SmallDisk {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'phalanx-small-disk-'));

  /** Undefined where this user may not mount. */
  static create(sizeMb: number): SmallDisk | undefined {
    const disk = new SmallDisk();
    if (mount(disk.folder, '-t', 'tmpfs', '-o', `size=${sizeMb}m,mode=700`, 'tmpfs')) return disk;
    rmSync(disk.folder, { recursive: true });
    console.warn(
      'NOT TESTED: this user may not mount, so no disk that is really full or read-only was tried.',
    );
    return undefined;
  }

  get #ballast(): string {
    return path.join(this.folder, 'ballast');
  }

  /** Fills the disk to the last block. */
  fill(): void {
    const file = openSync(this.#ballast, 'a');
    for (const bytes of fillBytes) fillBy(file, Buffer.alloc(bytes, 1));
    closeSync(file);
  }

  makeRoom(): void {
    rmSync(this.#ballast);
  }

  makeReadOnly(isReadOnly: boolean): void {
    execFileSync('mount', ['-o', `remount,${isReadOnly ? 'ro' : 'rw'}`, this.folder]);
  }

  remove(): void {
    execFileSync('umount', ['-l', this.folder]);
    rmSync(this.folder, { recursive: true, force: true });
  }
}
