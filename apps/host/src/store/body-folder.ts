import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

const end = '.data';

/** Folder of large bodies, a file each, beside the rows of the store that describe them. */
export class BodyFolder {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Creates a missing folder, and deletes the bodies that nothing describes: they were never complete. */
  async recover(isKnown: (id: string) => boolean): Promise<void> {
    await mkdir(this.#dir, { recursive: true });
    for (const name of await readdir(this.#dir))
      if (!name.endsWith(end) || !isKnown(name.slice(0, -end.length)))
        await rm(join(this.#dir, name), { recursive: true, force: true });
  }

  pathOf(id: string): string {
    return join(this.#dir, id + end);
  }

  /** Creates the file of a body, for this user alone. */
  create(id: string): Promise<FileHandle> {
    return open(this.pathOf(id), 'wx', 0o600);
  }

  /** Makes the names of all files survive a power loss. */
  async syncNames(): Promise<void> {
    // Windows has no handles of folders, so opening one fails there.
    await using folder = await open(this.#dir, 'r').catch(() => undefined);
    await folder?.sync();
  }

  /** Returns the size in bytes; 0 for a missing body. */
  async sizeOf(id: string): Promise<number> {
    const found = await stat(this.pathOf(id)).catch(() => undefined);
    return found?.size ?? 0;
  }

  async remove(id: string): Promise<void> {
    await rm(this.pathOf(id), { force: true });
  }
}
