import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

import type { Logger } from 'pino';
import { CaptureKind, RecordReport, Uuid } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';
import { Type, type Static } from 'typebox';

import type { RecordLimits } from '../record-limits.ts';
import { syncFolder, writeDurably } from '../../disk/replace-file.ts';
import { unpackTree } from '../record-tree.ts';

/** Capture as stored on disk: a tree compressed, a screenshot unchanged. */
export interface Capture {
  screenId: string;
  kind: CaptureKind;
  bytes: Buffer;
}

/** Record with all its captures. */
export interface OutgoingRecord {
  report: RecordReport;
  captures: readonly Capture[];
}

/** Index in a record's folder beside the captures: the record, and the position of each capture in the file. */
export const RecordIndex = Type.Object({
  report: RecordReport,
  captures: Type.Array(
    Type.Object({
      screen_id: Uuid,
      kind: CaptureKind,
      offset: Type.Integer({ minimum: 0 }),
      size_bytes: Type.Integer({ minimum: 0 }),
    }),
  ),
});
export type RecordIndex = Static<typeof RecordIndex>;

const validator = Compile(RecordIndex);
const indexFile = 'record.json';
const capturesFile = 'captures';
const unfinished = '.tmp';

interface RecordOutboxOptions {
  dir: string;
  limits: Pick<RecordLimits, 'totalDiskBytes' | 'totalRecords'>;
  log: Logger;
}

/** Records on disk that the server has not accepted yet. When they exceed the limits, the oldest are dropped. */
export class RecordOutbox {
  readonly folder: RecordFolder;
  readonly #limits: RecordOutboxOptions['limits'];
  readonly #log: Logger;
  /** Size of each record in bytes, oldest record first. */
  readonly #sizes = new Map<string, number>();
  #usedBytes = 0;

  constructor({ dir, limits, log }: RecordOutboxOptions) {
    this.folder = new RecordFolder(dir);
    this.#limits = limits;
    this.#log = log;
  }

  has(recordId: string): boolean {
    return this.#sizes.has(recordId);
  }

  /** Recovers the records that an earlier process of the host left behind. Returns their IDs, oldest first. */
  async recover(): Promise<string[]> {
    for (const id of await this.folder.recover()) this.#note(id, await this.folder.sizeOf(id));
    await this.#dropOldest();
    return [...this.#sizes.keys()];
  }

  /** Resolves with the record's size in bytes once it is durably on disk. */
  async put(outgoing: OutgoingRecord): Promise<number> {
    const id = outgoing.report.record_id;
    await this.folder.write(outgoing);
    const sizeBytes = await this.folder.sizeOf(id);
    this.#note(id, sizeBytes);
    await this.#dropOldest();
    return sizeBytes;
  }

  async remove(recordId: string): Promise<void> {
    this.#usedBytes -= this.#sizes.get(recordId) ?? 0;
    this.#sizes.delete(recordId);
    await this.folder.remove(recordId);
  }

  #note(id: string, sizeBytes: number): void {
    this.#sizes.set(id, sizeBytes);
    this.#usedBytes += sizeBytes;
  }

  async #dropOldest(): Promise<void> {
    const { totalDiskBytes, totalRecords } = this.#limits;
    while (this.#usedBytes > totalDiskBytes || this.#sizes.size > totalRecords) {
      const [oldest] = this.#sizes.keys();
      if (oldest === undefined) return;
      this.#log.warn(
        { recordId: oldest, waitingBytes: this.#usedBytes, waitingRecords: this.#sizes.size },
        'Too many records wait for the server: the oldest one was dropped',
      );
      await this.remove(oldest);
    }
  }
}

/**
 * Stores each record in a folder. The folder is written under a temporary name, and renamed once everything is on disk.
 * The index is written first, so that a record that a killed host left behind can still be delivered.
 */
class RecordFolder {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /**
   * Completes or removes the partial records of an earlier process, and returns the IDs of all records, oldest first.
   */
  async recover(): Promise<string[]> {
    await mkdir(this.#dir, { recursive: true });
    for (const name of await readdir(this.#dir)) {
      if (name.endsWith(unfinished)) await this.#complete(name.slice(0, -unfinished.length));
    }
    return (await readdir(this.#dir)).filter((name) => !name.endsWith(unfinished)).sort();
  }

  async write(outgoing: OutgoingRecord): Promise<void> {
    const id = outgoing.report.record_id;
    const temporary = this.#path(id + unfinished);
    await mkdir(temporary);
    await writeDurably(join(temporary, indexFile), [Buffer.from(JSON.stringify(indexOf(outgoing)))]);
    await writeDurably(
      join(temporary, capturesFile),
      outgoing.captures.map(({ bytes }) => bytes),
    );
    await rename(temporary, this.#path(id));
    await syncFolder(this.#dir);
  }

  /** Rejects when the record is missing or unreadable. */
  async read(id: string): Promise<RecordIndex> {
    return readIndex(this.#path(id), id);
  }

  /** Returns a capture in the server's format: JSON or JPEG. Undefined when the record has no such capture. */
  async readCapture(
    { report, captures }: RecordIndex,
    wanted: { screen_id: string; kind: CaptureKind },
  ): Promise<Buffer | undefined> {
    const found = captures.find(
      ({ screen_id, kind }) => screen_id === wanted.screen_id && kind === wanted.kind,
    );
    if (found === undefined) return undefined;
    const path = join(this.#path(report.record_id), capturesFile);
    const bytes = await readSlice(path, found.offset, found.size_bytes);
    return found.kind === 'tree' ? unpackTree(bytes) : bytes;
  }

  /** Returns the size on disk in bytes; 0 when the record is missing. */
  async sizeOf(id: string): Promise<number> {
    const sizes = [indexFile, capturesFile].map((file) => sizeOfFile(join(this.#path(id), file)));
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  }

  async remove(id: string): Promise<void> {
    await rm(this.#path(id), { recursive: true, force: true });
  }

  async #complete(id: string): Promise<void> {
    const temporary = this.#path(id + unfinished);
    try {
      const index = await readIndex(temporary, id);
      const cut = cutShort(index, await sizeOfFile(join(temporary, capturesFile)));
      await writeDurably(join(temporary, indexFile), [Buffer.from(JSON.stringify(cut))]);
      await rename(temporary, this.#path(id));
    } catch {
      // The record can't be recovered: not even its index was written.
      await rm(temporary, { recursive: true, force: true });
    }
  }

  #path(name: string): string {
    return join(this.#dir, name);
  }
}

async function readIndex(path: string, id: string): Promise<RecordIndex> {
  const index: unknown = JSON.parse(await readFile(join(path, indexFile), 'utf8'));
  if (validator.Check(index) && index.report.record_id === id) return index;
  throw new Error(`The record in ${path} can't be read: its ${indexFile} does not fit.`);
}

async function readSlice(path: string, offset: number, sizeBytes: number): Promise<Buffer> {
  await using file = await open(path, 'r');
  const bytes = Buffer.alloc(sizeBytes);
  const { bytesRead } = await file.read(bytes, 0, sizeBytes, offset);
  if (bytesRead === sizeBytes) return bytes;
  throw new Error(`The file ${path} is shorter than its index says.`);
}

async function sizeOfFile(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined);
  return found?.size ?? 0;
}

function indexOf({ report, captures }: OutgoingRecord): RecordIndex {
  let offset = 0;
  return {
    report,
    captures: captures.map(({ screenId, kind, bytes }) => {
      const entry = { screen_id: screenId, kind, offset, size_bytes: bytes.byteLength };
      offset += bytes.byteLength;
      return entry;
    }),
  };
}

/** Returns the record reduced to the captures within the first `presentBytes` bytes. */
function cutShort({ report, captures }: RecordIndex, presentBytes: number): RecordIndex {
  const present = captures.filter(({ offset, size_bytes }) => offset + size_bytes <= presentBytes);
  const has = (screenId: string, kind: CaptureKind): boolean =>
    present.some((capture) => capture.screen_id === screenId && capture.kind === kind);
  const screens = report.screens.map((screen) => {
    const isPictureLost = screen.screenshot !== null && !has(screen.screen_id, 'screenshot');
    return {
      ...screen,
      has_tree: screen.has_tree && has(screen.screen_id, 'tree'),
      screenshot: isPictureLost ? null : screen.screenshot,
      screenshot_failed: screen.screenshot_failed || isPictureLost,
    };
  });
  return { report: { ...report, screens, is_cut_short: true }, captures: present };
}
