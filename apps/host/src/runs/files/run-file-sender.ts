import { openAsBlob } from 'node:fs';
import type { ApiClient } from '@phalanx/client/api-client';
import { filmRoutes, runRoutes, type FilmPartAbout } from '@phalanx/protocol';
import type { Logger } from 'pino';
import type { ServerConnection } from '../../connection/server-connection.ts';
import { DeliveryQueue } from '../../records/outgoing/delivery-queue.ts';
import { upload, type Upload } from '../../records/outgoing/upload.ts';
import type { RecordLimits } from '../../records/record-limits.ts';
import type { HostStore } from '../../store/host-store.ts';
import type { RunSecrets } from '../run-secrets.ts';
import { RunFiles } from './run-files.ts';
import { RunFileSpool, type SpooledFile } from './run-file-spool.ts';

/** Maximum size of all files that wait on disk for the server, in bytes. */
const maxSpooledBytes = 2_000_000_000;
/** Share of that size above which films get no further parts: files that code attaches must not be lost. */
const filmShare = 0.5;
/** Minimum speed of an upload in bytes per millisecond. A slower upload is aborted and retried. */
const minBytesPerMs = 50;

interface RunFileSenderOptions {
  server: ApiClient;
  store: HostStore;
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

/** Delivers all files and films of this host's runs, from the runs that make them to the server that stores them. */
export class RunFileSender {
  readonly #options: RunFileSenderOptions;
  readonly #spool: RunFileSpool;
  readonly #queue: DeliveryQueue;
  /** Files of each run that were not yet offered to the server. */
  readonly #waiting = new Map<string, Waiting>();

  constructor(options: RunFileSenderOptions) {
    this.#options = options;
    this.#spool = new RunFileSpool(options);
    const deliver = (fileId: string, signal: AbortSignal): Promise<void> => this.#deliver(fileId, signal);
    this.#queue = new DeliveryQueue({ ...options, what: 'A file of a run', deliver });
  }

  /** Recovers the files that an earlier process of the host could not deliver. */
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

  /** Stores a part of a film. Resolves with false when too many bytes wait for the server. */
  async keepFilmPart(runId: string, about: FilmPartAbout, content: Buffer): Promise<boolean> {
    if (this.#spool.usedBytes + content.byteLength > filmShare * maxSpooledBytes) return false;
    this.#add(await this.#spool.putFilmPart(runId, about, content));
    return true;
  }

  /**
   * Resolves when all files of the run and its film were offered to the server, so that they are visible as soon as the
   * end of the run is.
   */
  async whenOffered(runId: string): Promise<void> {
    await this.#waiting.get(runId)?.tried.promise;
  }

  /** Stops the uploads. Files that the server has not accepted stay on disk. */
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

  /** Returns false when the server will never accept the file. */
  async #send(file: SpooledFile, signal: AbortSignal): Promise<boolean> {
    const timeoutMs = this.#options.limits.uploadMs + file.size_bytes / minBytesPerMs;
    const body = await openAsBlob(this.#spool.contentPath(file.file_id));
    return upload(this.#options.server, { ...uploadOf(file, body), timeoutMs, signal });
  }

  #offered({ run_id, file_id }: SpooledFile): void {
    const waiting = this.#waiting.get(run_id);
    waiting?.fileIds.delete(file_id);
    if (waiting?.fileIds.size !== 0) return;
    this.#waiting.delete(run_id);
    waiting.tried.resolve();
  }
}

function uploadOf(file: SpooledFile, body: Blob): Pick<Upload, 'endpoint' | 'inputs' | 'isForRoom'> {
  const { run_id, file_id, name, content_type, film } = file;
  if (film === undefined) {
    const inputs = { params: { run_id, file_id }, query: { name, content_type }, body };
    return { endpoint: runRoutes.putFile, inputs };
  }
  const headers = { 'content-type': content_type };
  const inputs = { params: { run_id, part_id: file_id }, query: film, headers, body };
  // Film parts are not kept until their user has room: they would soon fill the disk.
  return { endpoint: filmRoutes.put, inputs, isForRoom: true };
}
