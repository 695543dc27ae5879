import { type AgentCallParams, maxRunFiles, problemWithFileName } from '@phalanx/protocol';

import type { RunSecrets } from '../run-secrets.ts';
import type { DraftFile, SpooledFile } from './run-file-spool.ts';

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
