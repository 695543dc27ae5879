import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { errorCodeOf } from '../../../kernel/errors/api-error.ts';
import { mainBranch } from '../../git/main-branch.ts';
import type { LargePacks } from '../packs/large-packs.ts';
import type { ListedPack, LoggedPack, PackLogStore } from '../packs/pack-log-store.ts';
import { minuteMs } from '@phalanx/timing/durations';

interface Options {
  /** Folder with one bare repository per project. */
  folder: string;
  store: PackLogStore;
  large: LargePacks;
}

/** Retention of old packs. Far longer than any reader uses one state. */
const keptMs = 5 * minuteMs;
/** File that changes at each boot, on systems that have it. */
const bootIdFile = '/proc/sys/kernel/random/boot_id';

const skeleton = {
  HEAD: `ref: ${mainBranch}\n`,
  config: '[core]\n\trepositoryformatversion = 0\n\tbare = true\n',
} as const;

/**
 * Cache with one repository per project, built from the packs of its log. Nothing in it is synced to the disk, and any
 * of it may be missing at any time: missing packs are restored.
 */
export class RepositoryCache {
  readonly #folder: string;
  readonly #store: PackLogStore;
  readonly #large: LargePacks;

  constructor({ folder, store, large }: Options) {
    this.#folder = folder;
    this.#store = store;
    this.#large = large;
  }

  /**
   * Empties the cache after a reboot, which may have lost data that was not synced. Removes the repositories of deleted
   * projects.
   */
  async open(isKnown: (id: string) => boolean): Promise<void> {
    const mark = path.join(this.#folder, 'boot-id');
    const now = (await readIfThere(bootIdFile)) ?? randomUUID();
    if ((await readIfThere(mark)) !== now) await rm(this.#folder, { recursive: true, force: true });
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await writeFile(mark, now, { mode: 0o600 });
    for (const name of await readdir(this.#folder))
      if (name.endsWith('.git') && !isKnown(name.slice(0, -'.git'.length)))
        await rm(path.join(this.#folder, name), { recursive: true, force: true });
  }

  gitDirOf(id: string): string {
    return path.join(this.#folder, `${id}.git`);
  }

  /**
   * Restores the missing packs of a project's log. Returns the packs of the log. `isSuspect`: also checks the existing
   * packs.
   */
  async complete(id: string, isSuspect: boolean): Promise<ListedPack[]> {
    await this.#layOut(id);
    const names = new Set(await readdir(path.join(this.gitDirOf(id), 'objects', 'pack')));
    const packs = await this.#store.listPacks(id);
    for (const listed of packs) {
      const isThere = Object.values(filesOf('', listed.hash)).every((file) => names.has(path.basename(file)));
      if (isThere && (!isSuspect || (await this.#isWhole(id, listed)))) continue;
      const found = listed.large_key === null ? await this.#store.findPack(id, listed) : undefined;
      // Starts again, because the log was repacked meanwhile.
      if (listed.large_key === null && found === undefined) return this.complete(id, isSuspect);
      await this.install(id, { ...listed, pack: null, pack_index: null, ...found });
    }
    return packs;
  }

  async install(id: string, { hash, pack, pack_index: index, large_key: key }: LoggedPack): Promise<void> {
    const files = filesOf(this.gitDirOf(id), hash);
    const unfinished = { pack: `${files.pack}.${randomUUID()}`, index: `${files.index}.${randomUUID()}` };
    if (key !== null) await this.#large.copy(key, unfinished);
    else {
      await writeFile(unfinished.pack, pack ?? '', { mode: 0o600 });
      await writeFile(unfinished.index, index ?? '', { mode: 0o600 });
    }
    // Adds the index last, because git sees a pack once it has its index.
    await rename(unfinished.pack, files.pack);
    await rename(unfinished.index, files.index);
  }

  /** Publishes the current branches and tags to git commands. */
  async publishRefs(id: string, head: string | undefined): Promise<void> {
    const refs = (await this.#store.listRefs(id)).filter(({ name }) => /^refs\/(?:heads|tags)\//.test(name));
    if (head !== undefined) refs.push({ name: mainBranch, target: head });
    const file = path.join(this.gitDirOf(id), 'packed-refs');
    const text = refs.map(({ name, target }) => `${target} ${name}\n`).join('');
    if ((await readIfThere(file)) === text) return;
    const unfinished = `${file}.${randomUUID()}`;
    await writeFile(unfinished, text, { mode: 0o600 });
    await rename(unfinished, file);
  }

  /** Marks packs as old. From now on they are kept only for readers in progress. */
  async retire(id: string, packs: readonly ListedPack[]): Promise<void> {
    const now = new Date();
    for (const { hash } of packs)
      for (const file of Object.values(filesOf(this.gitDirOf(id), hash)))
        await utimes(file, now, now).catch(() => undefined);
  }

  async remove(id: string): Promise<void> {
    await rm(this.gitDirOf(id), { recursive: true, force: true, maxRetries: 3 });
  }

  async #layOut(id: string): Promise<void> {
    const gitDir = this.gitDirOf(id);
    for (const folder of ['objects/pack', 'refs'])
      await mkdir(path.join(gitDir, folder), { recursive: true, mode: 0o700 });
    for (const [name, text] of Object.entries(skeleton)) {
      const file = path.join(gitDir, name);
      if ((await readIfThere(file)) === text) continue;
      await writeFile(file, text, { mode: 0o600 });
    }
  }

  async #isWhole(id: string, { hash, size_bytes: sizeBytes }: ListedPack): Promise<boolean> {
    const files = filesOf(this.gitDirOf(id), hash);
    return (await sizeOf(files.pack)) === sizeBytes && (await isIndexOf(files.index, hash));
  }

  /**
   * Removes leftovers of killed processes, and packs that the log no longer has. Call it only while no clone or push is
   * in progress.
   */
  async sweep(id: string, packs: readonly ListedPack[]): Promise<void> {
    const objects = path.join(this.gitDirOf(id), 'objects');
    const known = new Set(
      packs.flatMap(({ hash }) => Object.values(filesOf('', hash))).map((file) => path.basename(file)),
    );
    const inPack = (await readdir(path.join(objects, 'pack'))).filter((name) => !known.has(name));
    const quarantines = (await readdir(objects)).filter((name) => name.startsWith('tmp_objdir-'));
    for (const name of [...inPack.map((one) => path.join('pack', one)), ...quarantines]) {
      const file = path.join(objects, name);
      const ageMs = await stat(file).then(
        ({ mtimeMs }) => Date.now() - mtimeMs,
        () => 0,
      );
      if (ageMs > keptMs) await rm(file, { recursive: true, force: true });
    }
  }
}

const filesOf = (gitDir: string, hash: string): { pack: string; index: string } => {
  const name = path.join(gitDir, 'objects', 'pack', `pack-${hash}`);
  return { pack: `${name}.pack`, index: `${name}.idx` };
};

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

const sizeOf = (file: string): Promise<number | undefined> =>
  stat(file).then(
    ({ size }) => size,
    () => undefined,
  );

const sumBytes = 20;

/** Whether a file ends like the index of a pack, with the checksum of the pack and its own. */
async function isIndexOf(file: string, hash: string): Promise<boolean> {
  const handle = await open(file).catch(() => undefined);
  if (handle === undefined) return false;
  try {
    const { size } = await handle.stat();
    const end = Buffer.alloc(sumBytes);
    await handle.read(end, 0, sumBytes, Math.max(0, size - 2 * sumBytes));
    return end.toString('hex') === hash;
  } finally {
    await handle.close();
  }
}
