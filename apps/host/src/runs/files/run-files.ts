import { type FileHandle, mkdir, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import {
  type AgentCallParams,
  maxRunFiles,
  problemWithFileName,
  ContentType,
  FilmPartAbout,
  RunFileName,
  Uuid,
} from '@phalanx/protocol';
import { Type, type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { v7 as uuidv7 } from 'uuid';

import type { RunSecrets } from '../run-secrets.ts';
import { replaceDurably, replaceFile } from '../../disk/replace-file.ts';

type Part = AgentCallParams<'run.attach'>;

class AttachRefused extends Error {
  override readonly name = 'AttachRefused';
  readonly code = 'attach_refused';
}

interface RunFilesOptions {
  runId: string;
  secrets: RunSecrets;
  /** Maximum size of all files of the run together, in bytes. */
  maxBytes: number;
  create: () => Promise<DraftFile>;
  /** Whether the disk has room for `moreBytes` more. */
  hasRoom: (moreBytes: number) => boolean;
  onKept: (file: SpooledFile) => void;
}

interface OpenFile {
  draft: Promise<DraftFile>;
  nextPart: number;
  sizeBytes: number;
  /** Redacts text in UTF-8. */
  redact: ((part: Uint8Array, isLast: boolean) => Promise<Uint8Array>) | undefined;
}

const megabyte = 1_000_000;

/** Normalizes a name, because names that look the same are one file on some file systems. */
const keyOf = (name: string): string => name.normalize('NFKC').toLowerCase();

/** Files that one run attaches, from their first part to the disk. */
export class RunFiles {
  readonly #options: RunFilesOptions;
  readonly #open = new Map<string, OpenFile>();
  /** Names of the complete files. */
  readonly #kept = new Set<string>();
  #usedBytes = 0;
  #isClosed = false;

  constructor(options: RunFilesOptions) {
    this.#options = options;
  }

  /** Resolves when the part is on disk; with the last part, the whole file. */
  async attach(part: Part): Promise<void> {
    const name = this.#options.secrets.redact(part.name);
    const key = keyOf(name);
    const file = part.part === 0 ? this.#begin(key, name, part) : this.#open.get(key);
    if (file === undefined || file.nextPart !== part.part)
      throw new AttachRefused(`The file ${name} was attached twice at the same time.`);
    file.nextPart += 1;
    try {
      await this.#write(file, part);
      if (part.isLast) await this.#keep(key, { name, file, part });
    } catch (error) {
      await this.#drop(key, file);
      if (error instanceof AttachRefused) throw error;
      throw new AttachRefused(`The host could not write the file ${name}. Is its disk full?`, {
        cause: error,
      });
    }
  }

  /** Discards incomplete files. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const [key, file] of this.#open) await this.#drop(key, file);
  }

  #begin(key: string, name: string, { isText }: Part): OpenFile {
    const problem = this.#problemWith(key, name);
    if (problem !== undefined) throw new AttachRefused(problem);
    const earlier = this.#open.get(key);
    if (earlier !== undefined) void this.#drop(key, earlier);
    const redact = isText ? this.#options.secrets.redactBytes() : undefined;
    const file: OpenFile = { draft: this.#options.create(), nextPart: 0, sizeBytes: 0, redact };
    // A failure is ignored here, because the writer of the file gets it.
    file.draft.catch(() => undefined);
    this.#open.set(key, file);
    return file;
  }

  #problemWith(key: string, name: string): string | undefined {
    if (this.#isClosed) return 'The run has ended.';
    if (this.#kept.has(key)) return `The run has attached a file ${name} before: give this one another name.`;
    if (this.#kept.size + this.#open.size >= maxRunFiles && !this.#open.has(key))
      return `A run may attach ${maxRunFiles} files.`;
    return problemWithFileName(name);
  }

  async #write(file: OpenFile, { base64, isLast }: Part): Promise<void> {
    const given = Buffer.from(base64, 'base64');
    const bytes = file.redact === undefined ? given : await file.redact(given, isLast);
    const { maxBytes, hasRoom } = this.#options;
    if (this.#usedBytes + bytes.byteLength > maxBytes)
      throw new AttachRefused(
        `The files of a run may have ${maxBytes / megabyte} MB together (PHALANX_RUN_FILES_MB of the host).`,
      );
    if (!hasRoom(bytes.byteLength))
      throw new AttachRefused('Too many files wait on the host for the server: try again later.');
    this.#usedBytes += bytes.byteLength;
    file.sizeBytes += bytes.byteLength;
    await (await file.draft).write(bytes);
  }

  async #keep(
    key: string,
    { name, file, part }: { name: string; file: OpenFile; part: Part },
  ): Promise<void> {
    // Another file was begun under this name meanwhile, or the run has ended.
    if (this.#open.get(key) !== file)
      throw new AttachRefused(`The file ${name} was not attached to its end.`);
    this.#open.delete(key);
    this.#kept.add(key);
    const { runId, onKept, secrets } = this.#options;
    const given = part.contentType;
    const isShown = given !== undefined && secrets.redact(given) === given;
    const type = isShown ? given : contentTypeOf(name, part.isText);
    try {
      const draft = await file.draft;
      onKept(await draft.keep({ run_id: runId, name, content_type: type }));
    } catch (error) {
      this.#kept.delete(key);
      throw error;
    }
  }

  async #drop(key: string, file: OpenFile): Promise<void> {
    if (this.#open.get(key) === file) this.#open.delete(key);
    this.#usedBytes -= file.sizeBytes;
    file.sizeBytes = 0;
    await file.draft.then((draft) => draft.discard()).catch(() => undefined);
  }
}

/** Content types of the files that automations make most often. */
const types: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  gif: 'image/gif',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  jsonl: 'application/jsonl',
  log: 'text/plain',
  md: 'text/markdown',
  mp4: 'video/mp4',
  pdf: 'application/pdf',
  png: 'image/png',
  txt: 'text/plain',
  webp: 'image/webp',
  xml: 'application/xml',
  zip: 'application/zip',
};

/** Returns the content type of a file by its name. */
function contentTypeOf(name: string, isText: boolean): string {
  const end = name.split('.').at(-1)?.toLowerCase() ?? '';
  if (name.includes('.') && Object.hasOwn(types, end)) return types[end] ?? '';
  return isText ? 'text/plain' : 'application/octet-stream';
}

/** File on disk that the server has not accepted yet. */
export const SpooledFile = Type.Object({
  file_id: Uuid,
  run_id: Uuid,
  name: RunFileName,
  content_type: ContentType,
  size_bytes: Type.Integer({ minimum: 0 }),
  /** Description of a picture or a video of the run's film. */
  film: Type.Optional(FilmPartAbout),
});
export type SpooledFile = Static<typeof SpooledFile>;

const validator = Compile(SpooledFile);
const indexEnd = '.json';
const contentEnd = '.data';

/** File that is being written. Either `keep` or `discard` must be called. */
interface DraftFile {
  write(bytes: Uint8Array): Promise<void>;
  /** Resolves when the file survives a power loss. */
  keep(about: Pick<SpooledFile, 'run_id' | 'name' | 'content_type'>): Promise<SpooledFile>;
  discard(): Promise<void>;
}

/** Files of runs that wait for the server: the content and, once that is complete, an index beside it. */
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

  /**
   * Recovers the files that an earlier process of the host left behind, oldest first. Incomplete files are deleted:
   * they were never attached.
   */
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

  /**
   * Stores a part of a film. It survives the death of the host but not a power loss, because there is one every second.
   */
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
      // After a power loss, a part of a film may be truncated.
      if ((await stat(this.contentPath(file.file_id))).size === file.size_bytes) return file;
    } catch {
      // The index is damaged, so the file can't be identified.
    }
    return undefined;
  }
}
