import type { FileHandle } from 'node:fs/promises';
import { ContentType, FilmPartAbout, RunFileName, Uuid } from '@phalanx/protocol';
import { type Static, Type } from 'typebox';
import { v7 as uuidv7 } from 'uuid';
import { BodyFolder } from '../../store/body-folder.ts';
import type { HostStore } from '../../store/host-store.ts';
import type { JsonTable } from '../../store/json-table.ts';

/** File on disk that the server has not accepted yet. */
const SpooledFile = Type.Object({
  file_id: Uuid,
  run_id: Uuid,
  name: RunFileName,
  content_type: ContentType,
  size_bytes: Type.Integer({ minimum: 0 }),
  /** Description of a picture or a video of the run's film. */
  film: Type.Optional(FilmPartAbout),
});
export type SpooledFile = Static<typeof SpooledFile>;

/** File that is being written. Either `keep` or `discard` must be called. */
export interface DraftFile {
  write(bytes: Uint8Array): Promise<void>;
  /** Resolves when the file survives a power loss. */
  keep(about: Pick<SpooledFile, 'run_id' | 'name' | 'content_type'>): Promise<SpooledFile>;
  discard(): Promise<void>;
}

interface RunFileSpoolOptions {
  readonly store: HostStore;
  /** Folder of the contents. */
  readonly dir: string;
}

/** Files of runs that wait for the server. A file has a row in the store once its content is complete. */
export class RunFileSpool {
  readonly #table: JsonTable<typeof SpooledFile>;
  readonly #contents: BodyFolder;
  readonly #files = new Map<string, SpooledFile>();
  #usedBytes = 0;

  constructor({ store, dir }: RunFileSpoolOptions) {
    this.#table = store.table('run_file', SpooledFile);
    this.#contents = new BodyFolder(dir);
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  find(fileId: string): SpooledFile | undefined {
    return this.#files.get(fileId);
  }

  contentPath(fileId: string): string {
    return this.#contents.pathOf(fileId);
  }

  /** Recovers the files that an earlier process of the host left behind, oldest first. */
  async recover(): Promise<SpooledFile[]> {
    for await (const [fileId, file] of this.#table.entries()) {
      // After a power loss, a part of a film may be truncated.
      if (file?.size_bytes === (await this.#contents.sizeOf(fileId))) this.#add(file);
      else await this.#table.remove(fileId);
    }
    await this.#contents.recover((fileId) => this.#files.has(fileId));
    return [...this.#files.values()];
  }

  async create(): Promise<DraftFile> {
    const fileId = uuidv7();
    const handle = await this.#contents.create(fileId);
    let sizeBytes = 0;
    return {
      write: async (bytes) => {
        await handle.writeFile(bytes);
        sizeBytes += bytes.byteLength;
      },
      keep: (about) => this.#keep({ ...about, file_id: fileId, size_bytes: sizeBytes }, handle),
      discard: async () => {
        await handle.close();
        await this.#contents.remove(fileId);
      },
    };
  }

  /**
   * Stores a part of a film. It survives the death of the host but not a power loss, because there is one every second.
   */
  async putFilmPart(runId: string, film: FilmPartAbout, content: Buffer): Promise<SpooledFile> {
    const file_id = uuidv7();
    const [end, content_type] = film.ended_at === undefined ? ['jpg', 'image/jpeg'] : ['mp4', 'video/mp4'];
    const about = { name: `${film.number}.${end}`, content_type, size_bytes: content.byteLength };
    const file = { file_id, run_id: runId, ...about, film };
    await using handle = await this.#contents.create(file_id);
    await handle.writeFile(content);
    await this.#table.put(file_id, file);
    this.#add(file);
    return file;
  }

  async remove(fileId: string): Promise<void> {
    this.#usedBytes -= this.#files.get(fileId)?.size_bytes ?? 0;
    this.#files.delete(fileId);
    await this.#table.remove(fileId);
    await this.#contents.remove(fileId);
  }

  async #keep(file: SpooledFile, handle: FileHandle): Promise<SpooledFile> {
    await handle.sync();
    await handle.close();
    await this.#contents.syncNames();
    await this.#table.put(file.file_id, file, { isDurable: true });
    this.#add(file);
    return file;
  }

  #add(file: SpooledFile): void {
    this.#files.set(file.file_id, file);
    this.#usedBytes += file.size_bytes;
  }
}
