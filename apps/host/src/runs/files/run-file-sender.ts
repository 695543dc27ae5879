import { openAsBlob } from 'node:fs';
import type { FilmPartAbout } from '@phalanx/protocol';
import type { Logger } from 'pino';
import type { ServerConnection } from '../../connection/server-connection.ts';
import { DeliveryQueue } from '../../records/outgoing/delivery-queue.ts';
import { type CaptureServer, putBody, type Upload } from '../../records/outgoing/put-capture.ts';
import type { RecordLimits } from '../../records/record-limits.ts';
import type { RunSecrets } from '../run-secrets.ts';
import { RunFiles, RunFileSpool, type SpooledFile } from './run-files.ts';

/** Maximum size of all files that wait on disk for the server, in bytes. */
const maxSpooledBytes = 2_000_000_000;
/** Share of that size beyond which films get no further parts: files that code attaches must not be lost. */
const filmShare = 0.5;
/** Minimum speed of an upload, in bytes a millisecond. A slower one is given up, and tried again. */
const minBytesPerMs = 50;

interface RunFileSenderOptions extends CaptureServer {
  /** Folder of the files that wait for the server. */
  dir: string;
  /** Maximum size of the files of one run together, in bytes. */
  maxRunBytes: number;
  connection: ServerConnection;
  limits: Pick<RecordLimits, 'uploadMs' | 'uploadsAtOnce' | 'firstRetryMs' | 'lastRetryMs'>;
  log: Logger;
}

interface Waiting {
  readonly fileIds: Set<string>;
  readonly tried: PromiseWithResolvers<void>;
}

/** All files and films of the runs of this host, from the runs that make them to the server that keeps them. */
export class RunFileSender {
  readonly #options: RunFileSenderOptions;
  readonly #spool: RunFileSpool;
  readonly #queue: DeliveryQueue;
  /** The files of each run that the server was not offered yet. */
  readonly #waiting = new Map<string, Waiting>();

  constructor(options: RunFileSenderOptions) {
    this.#options = options;
    this.#spool = new RunFileSpool(options.dir);
    const deliver = (fileId: string, signal: AbortSignal): Promise<void> => this.#deliver(fileId, signal);
    this.#queue = new DeliveryQueue({ ...options, what: 'A file of a run', deliver });
  }

  /** Takes up the files that an earlier life of the host could not deliver. */
  async recover(): Promise<void> {
    for (const file of await this.#spool.recover()) this.#add(file);
  }

  filesOf(runId: string, secrets: RunSecrets): RunFiles {
    return new RunFiles({
      runId,
      secrets,
      maxBytes: this.#options.maxRunBytes,
      create: () => this.#spool.create(),
      hasRoom: (moreBytes) => this.#spool.usedBytes + moreBytes <= maxSpooledBytes,
      onKept: (file) => this.#add(file),
    });
  }

  /** Resolves with false when too much waits for the server. */
  async keepFilmPart(runId: string, about: FilmPartAbout, content: Buffer): Promise<boolean> {
    if (this.#spool.usedBytes + content.byteLength > filmShare * maxSpooledBytes) return false;
    this.#add(await this.#spool.putFilmPart(runId, about, content));
    return true;
  }

  /** Resolves when the server was offered all files of the run and its film, so that whoever sees the end of the run sees them. */
  async whenOffered(runId: string): Promise<void> {
    await this.#waiting.get(runId)?.tried.promise;
  }

  /** Stops the uploads. Files that the server has not taken stay on disk. */
  close(): Promise<void> {
    return this.#queue.close();
  }

  #add({ file_id, run_id }: SpooledFile): void {
    const waiting = this.#waiting.get(run_id) ?? { fileIds: new Set(), tried: Promise.withResolvers<void>() };
    waiting.fileIds.add(file_id);
    this.#waiting.set(run_id, waiting);
    this.#queue.add(file_id);
  }

  async #deliver(fileId: string, signal: AbortSignal): Promise<void> {
    const file = this.#spool.find(fileId);
    if (file === undefined) return;
    try {
      if (!(await this.#send(file, signal)))
        this.#options.log.warn(
          { runId: file.run_id, name: file.name },
          'The server did not take a file of a run',
        );
      await this.#spool.remove(fileId);
    } finally {
      if (!signal.aborted) this.#offered(file);
    }
  }

  /** False when the server will never take it. */
  async #send(file: SpooledFile, signal: AbortSignal): Promise<boolean> {
    const timeoutMs = this.#options.limits.uploadMs + file.size_bytes / minBytesPerMs;
    return putBody(this.#options, {
      ...placeOf(file),
      body: await openAsBlob(this.#spool.contentPath(file.file_id)),
      signal: AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(timeoutMs))]),
    });
  }

  #offered({ run_id, file_id }: SpooledFile): void {
    const waiting = this.#waiting.get(run_id);
    waiting?.fileIds.delete(file_id);
    if (waiting?.fileIds.size !== 0) return;
    this.#waiting.delete(run_id);
    waiting.tried.resolve();
  }
}

/** Upload path and content type of a file at the server. */
function placeOf({
  run_id,
  file_id,
  name,
  content_type,
  film,
}: SpooledFile): Pick<Upload, 'path' | 'contentType' | 'isForRoom'> {
  const path = `/api/v2/hosts/runs/${run_id}`;
  if (film === undefined) {
    const query = new URLSearchParams({ name, content_type }).toString();
    return { path: `${path}/files/${file_id}?${query}`, contentType: 'application/octet-stream' };
  }
  const about = Object.entries(film).map(([key, value]): [string, string] => [key, String(value)]);
  const query = new URLSearchParams(about).toString();
  // Films that wait for room would soon fill the disk.
  return { path: `${path}/film/${file_id}?${query}`, contentType: content_type, isForRoom: true };
}
