import { open } from 'node:fs/promises';
import type { Logger } from 'pino';
import { CaptureKind, RecordReport, Uuid } from '@phalanx/protocol';
import { type Static, Type } from 'typebox';
import { BodyFolder } from '../../store/body-folder.ts';
import type { HostStore } from '../../store/host-store.ts';
import type { JsonTable } from '../../store/json-table.ts';
import type { RecordLimits } from '../record-limits.ts';
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

/** Row of a record: the record, and the position of each capture in the file of its captures. */
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

interface RecordOutboxOptions {
  store: HostStore;
  /** Folder of the captures. */
  dir: string;
  limits: Pick<RecordLimits, 'totalDiskBytes' | 'totalRecords'>;
  log: Logger;
}

/**
 * Records on disk that the server has not accepted yet. When they exceed the limits, the oldest are dropped. The row of
 * a record is written before its captures, so that a record that a killed host left behind can still be delivered.
 */
export class RecordOutbox {
  readonly #table: JsonTable<typeof RecordIndex>;
  readonly #captures: BodyFolder;
  readonly #limits: RecordOutboxOptions['limits'];
  readonly #log: Logger;
  /** Size of each record in bytes, oldest record first. */
  readonly #sizes = new Map<string, number>();
  #usedBytes = 0;

  constructor({ store, dir, limits, log }: RecordOutboxOptions) {
    this.#table = store.table('record', RecordIndex);
    this.#captures = new BodyFolder(dir);
    this.#limits = limits;
    this.#log = log;
  }

  /** Recovers the records that an earlier process of the host left behind. Returns their IDs, oldest first. */
  async recover(): Promise<string[]> {
    for await (const [id, index] of this.#table.entries()) {
      if (index === undefined) await this.#dropDamaged(id);
      else this.#note(id, await this.#complete(index));
    }
    await this.#captures.recover((id) => this.#sizes.has(id));
    await this.#dropOldest();
    return [...this.#sizes.keys()];
  }

  /** Resolves with the record's size in bytes once it is durably on disk. */
  async put(outgoing: OutgoingRecord): Promise<number> {
    const id = outgoing.report.record_id;
    const index = indexOf(outgoing);
    await this.#table.put(id, index, { isDurable: true });
    await using file = await this.#captures.create(id);
    for (const { bytes } of outgoing.captures) await file.writeFile(bytes);
    await file.sync();
    await this.#captures.syncNames();
    const sizeBytes = sizeOf(index);
    this.#note(id, sizeBytes);
    await this.#dropOldest();
    return sizeBytes;
  }

  /** Returns undefined for a record that was dropped to make room for newer ones. */
  read(recordId: string): Promise<RecordIndex | undefined> {
    return this.#table.get(recordId);
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
    const bytes = await readSlice(this.#captures.pathOf(report.record_id), found.offset, found.size_bytes);
    return found.kind === 'tree' ? unpackTree(bytes) : bytes;
  }

  async remove(recordId: string): Promise<void> {
    this.#usedBytes -= this.#sizes.get(recordId) ?? 0;
    this.#sizes.delete(recordId);
    await this.#table.remove(recordId);
    await this.#captures.remove(recordId);
  }

  /** Reduces a record that a killed host has not written completely to what is there. Returns its size in bytes. */
  async #complete(index: RecordIndex): Promise<number> {
    const id = index.report.record_id;
    const presentBytes = await this.#captures.sizeOf(id);
    if (presentBytes >= capturesSize(index)) return sizeOf(index);
    const cut = cutShort(index, presentBytes);
    await this.#table.put(id, cut, { isDurable: true });
    return sizeOf(cut);
  }

  async #dropDamaged(recordId: string): Promise<void> {
    this.#log.error({ recordId }, 'A damaged record was dropped');
    await this.#table.remove(recordId);
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

const capturesSize = ({ captures }: RecordIndex): number =>
  captures.reduce((end, { offset, size_bytes }) => Math.max(end, offset + size_bytes), 0);

/** Returns the size of a record on disk in bytes. */
const sizeOf = (index: RecordIndex): number => Buffer.byteLength(JSON.stringify(index)) + capturesSize(index);

async function readSlice(path: string, offset: number, sizeBytes: number): Promise<Buffer> {
  await using file = await open(path, 'r');
  const bytes = Buffer.alloc(sizeBytes);
  const { bytesRead } = await file.read(bytes, 0, sizeBytes, offset);
  if (bytesRead === sizeBytes) return bytes;
  throw new Error(`The file ${path} is shorter than its index says.`);
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
