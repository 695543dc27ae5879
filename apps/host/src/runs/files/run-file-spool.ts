import { type FileHandle, mkdir, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ContentType, FilmPartAbout, RunFileName, Uuid } from '@phalanx/protocol';
import { Type, type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { v7 as uuidv7 } from 'uuid';

import { replaceDurably, replaceFile } from '../../disk/replace-file.ts';

/** A file on disk that the server has not taken. */
export const SpooledFile = Type.Object({
  file_id: Uuid,
  run_id: Uuid,
  name: RunFileName,
  content_type: ContentType,
  size_bytes: Type.Integer({ minimum: 0 }),
  /** Of a picture or a video of the run's film. */
  film: Type.Optional(FilmPartAbout),
});
export type SpooledFile = Static<typeof SpooledFile>;

const validator = Compile(SpooledFile);
const indexEnd = '.json';
const contentEnd = '.data';

/** A file that is being written. One of `keep` and `discard` must be called. */
export interface DraftFile {
  write(bytes: Uint8Array): Promise<void>;
  /** Resolves when it outlives a loss of power. */
  keep(about: Pick<SpooledFile, 'run_id' | 'name' | 'content_type'>): Promise<SpooledFile>;
  discard(): Promise<void>;
}

/** The files of runs that wait for the server: a content and, once that is whole, an index beside it. */
export class RunFileSpool {
  readonly #dir: string;
  readonly #files = new Map<string, SpooledFile>();
  #usedBytes = 0;

  constructor(dir: string) {
    this.#dir = dir;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  find(fileId: string): SpooledFile | undefined {
    return this.#files.get(fileId);
  }

  contentPath(fileId: string): string {
    return join(this.#dir, fileId + contentEnd);
  }

  /** Takes up what an earlier life of the host has left, oldest first. What was not whole has never been attached. */
  async recover(): Promise<SpooledFile[]> {
    await mkdir(this.#dir, { recursive: true });
    const names = (await readdir(this.#dir)).toSorted();
    for (const name of names.filter((one) => one.endsWith(indexEnd))) {
      const file = await this.#readIndex(name);
      if (file !== undefined) this.#add(file);
    }
    const known = new Set([...this.#files.keys()].flatMap((id) => [id + indexEnd, id + contentEnd]));
    for (const name of names) if (!known.has(name)) await rm(join(this.#dir, name), { force: true });
    return [...this.#files.values()];
  }

  async create(): Promise<DraftFile> {
    const fileId = uuidv7();
    const handle = await open(this.contentPath(fileId), 'wx', 0o600);
    let sizeBytes = 0;
    return {
      write: async (bytes) => {
        await handle.writeFile(bytes);
        sizeBytes += bytes.byteLength;
      },
      keep: (about) => this.#keep({ ...about, file_id: fileId, size_bytes: sizeBytes }, handle),
      discard: async () => {
        await handle.close();
        await rm(this.contentPath(fileId), { force: true });
      },
    };
  }

  /** Keeps a part of a film, which outlives the host, but not a loss of power: there is one every second. */
  async putFilmPart(runId: string, film: FilmPartAbout, content: Buffer): Promise<SpooledFile> {
    const file_id = uuidv7();
    const [end, content_type] = film.ended_at === undefined ? ['jpg', 'image/jpeg'] : ['mp4', 'video/mp4'];
    const about = { name: `${film.number}.${end}`, content_type, size_bytes: content.byteLength };
    const file = { file_id, run_id: runId, ...about, film };
    const index = join(this.#dir, file_id + indexEnd);
    await writeFile(this.contentPath(file_id), content, { mode: 0o600 });
    await replaceFile(index, JSON.stringify(file), { mode: 0o600 });
    this.#add(file);
    return file;
  }

  async remove(fileId: string): Promise<void> {
    this.#usedBytes -= this.#files.get(fileId)?.size_bytes ?? 0;
    this.#files.delete(fileId);
    await rm(join(this.#dir, fileId + indexEnd), { force: true });
    await rm(this.contentPath(fileId), { force: true });
  }

  async #keep(file: SpooledFile, handle: FileHandle): Promise<SpooledFile> {
    await handle.sync();
    await handle.close();
    const index = join(this.#dir, file.file_id + indexEnd);
    await replaceDurably(index, JSON.stringify(file));
    this.#add(file);
    return file;
  }

  #add(file: SpooledFile): void {
    this.#files.set(file.file_id, file);
    this.#usedBytes += file.size_bytes;
  }

  async #readIndex(name: string): Promise<SpooledFile | undefined> {
    try {
      const file: unknown = JSON.parse(await readFile(join(this.#dir, name), 'utf8'));
      if (!validator.Check(file) || file.file_id + indexEnd !== name) return undefined;
      // After a loss of power a part of a film may be there in part.
      if ((await stat(this.contentPath(file.file_id))).size === file.size_bytes) return file;
    } catch {
      // A damaged disk: what it was can't be told.
    }
    return undefined;
  }
}
