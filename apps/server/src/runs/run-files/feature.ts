import { createHash, type Hash } from 'node:crypto';

import { type RunFile, runRoutes, maxRunFiles, problemWithFileName } from '@phalanx/protocol';
import type { FastifyInstance, FastifyReply } from 'fastify';

import type { Captures, CaptureKey } from '../captures/captures.ts';
import { Uploads, addUploadRoute, type Expectation, type UploadNotes } from '../captures/uploads.ts';
import type { Context } from '../../http/context.ts';
import type { RecordFigures } from '../../http/health/metrics.ts';
import type { Runs } from '../runs/feature.ts';
import { createRunFileStore, type RunFileStore, type StoredRunFile } from './store.ts';
import type { StoredBlob } from '../../storage/blobs/blob-store.ts';
import { sendBlob } from '../captures/send-blob.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import type { Principal } from '../../http/requests/principal.ts';
import { addRawRoute, addRoute } from '../../http/requests/route.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { FindRunOfHost } from '../runs/stored-run.ts';

interface RunFileDependencies {
  runs: Runs;
  captures: Captures;
  figures: RecordFigures;
}

/** The files that runs attach. Their contents are beside the captures of records, and go with their run. */
export async function serveRunFiles(
  { app, database, clock, limits }: Context,
  { runs, captures, figures }: RunFileDependencies,
): Promise<void> {
  const store = createRunFileStore(database);
  const uploads = new Uploads({
    ...createRunFileNotes({ store, findRunOfHost: runs.store.findOfHost, clock }),
    captures,
    limits,
    figures,
  });
  await addRunFileRoutes(app, { store, captures, uploads, runs });
}

interface RunFileRoutesOptions {
  store: RunFileStore;
  captures: Captures;
  uploads: Uploads<RunFileKey>;
  runs: Pick<Runs, 'access' | 'store'>;
}

/** `GET /runs/:id/files`, `GET /runs/:id/files/:name` and `PUT /hosts/runs/:run_id/files/:file_id` */
async function addRunFileRoutes(app: FastifyInstance, options: RunFileRoutesOptions): Promise<void> {
  const { store, captures, uploads, runs } = options;
  const getRunId = async (principal: Principal, id: string): Promise<string> =>
    (await runs.access.getReadable(await runs.store.find(id.toLowerCase()), principal, id)).id;

  addRoute(app, runRoutes.files, async ({ principal, params }) => {
    const files = await store.list(await getRunId(principal, params.id));
    return { success: true, files: files.map(fileView) };
  });

  addRawRoute(app, runRoutes.readFile, async ({ principal, params, raw }, reply) => {
    const file = await store.find(await getRunId(principal, params.id), params.name);
    const blob = file && (await captures.find(keyOf(file)));
    if (file === undefined || blob === undefined)
      throw ApiError.of('run_file_not_found', { run_id: params.id, name: params.name });
    return sendBlob(blob, raw, describe(reply, file, blob));
  });

  await addUploadRoute(app, runRoutes.putFile, {
    kindOf: () => 'file',
    take: ({ principal, params, query }, body) => {
      const { userId } = principal;
      const ids = { recordId: params.run_id.toLowerCase(), screenId: params.file_id.toLowerCase() };
      const key = newRunFileKey({ ...ids, userId, name: query.name, contentType: query.content_type });
      return uploads.take(principal, key, hashed(body, key.hash));
    },
  });
}

const keyOf = ({ run_id, file_id }: StoredRunFile) =>
  ({ recordId: run_id, screenId: file_id, kind: 'file' }) as const;

const fileView = ({ name, size_bytes, sha256, content_type, created_at }: StoredRunFile): RunFile => ({
  ...{ name, size_bytes, sha256, content_type, created_at },
});

/** What a browser may show within a page of the console. */
const pictureTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg']);

/** Code of anybody has written it: no browser runs it, shows it as a page, or guesses what it is. */
const describe = (
  reply: FastifyReply,
  { name, content_type }: StoredRunFile,
  blob: StoredBlob,
): FastifyReply =>
  reply.headers({
    'content-type': pictureTypes.has(content_type) ? content_type : 'application/octet-stream',
    'content-disposition': `attachment; ${fileNameParameters(name)}`,
    'accept-ranges': 'bytes',
    etag: `"${blob.version}"`,
    'cache-control': 'private, no-cache',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
  });

/** RFC 6266. Names of files have no quotes and no control characters. */
function fileNameParameters(name: string): string {
  const encoded = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `filename="${name.replaceAll(/[^\x20-\x7e]|%/g, '_')}"; filename*=UTF-8''${encoded}`;
}

/** A file on its way: of a run, by the ID that its host gave it. */
interface RunFileKey extends CaptureKey<'file'> {
  readonly name: string;
  readonly contentType: string;
  /** Who uploads it. */
  readonly userId: string;
  /** Of what has come so far. */
  readonly hash: Hash;
}

interface Options {
  store: RunFileStore;
  findRunOfHost: FindRunOfHost;
  clock: Clock;
}

const runNotFound = (runId: string): ApiError => ApiError.of('run_not_found', { run_id: runId });

/** Hashes a body as it passes. */
async function* hashed(body: AsyncIterable<Uint8Array>, hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const piece of body) {
    hash.update(piece);
    yield piece;
  }
}

const newRunFileKey = (about: Omit<RunFileKey, 'kind' | 'hash'>): RunFileKey => ({
  ...about,
  kind: 'file',
  hash: createHash('sha256'),
});

/** What is known of files of runs, for whoever takes them in. */
function createRunFileNotes({ store, findRunOfHost, clock }: Options): UploadNotes<RunFileKey> {
  /** Of a name that the run has no file of. */
  const requireRoom = async (runId: string): Promise<Expectation> => {
    if ((await store.count(runId)) < maxRunFiles) return 'expected';
    throw ApiError.of('too_many_run_files', { run_id: runId, limit: maxRunFiles });
  };
  return {
    async expectationOf(caller, { recordId: runId, screenId: fileId, name }) {
      const problem = problemWithFileName(name);
      if (problem !== undefined)
        throw ApiError.of('invalid_request', { problem: problem.replace(/\.$/, '') });
      if ((await findRunOfHost(runId, caller)) === undefined) return 'unknown';
      const known = await store.find(runId, name);
      if (known === undefined) return requireRoom(runId);
      if (known.file_id === fileId) return 'stored';
      throw ApiError.of('run_file_exists', { run_id: runId, name });
    },
    noteStored: ({ recordId, screenId, name, contentType, userId, hash }, sizeBytes) =>
      store.add({
        ...{ run_id: recordId, file_id: screenId, name, content_type: contentType, user_id: userId },
        ...{ size_bytes: sizeBytes, sha256: hash.digest('hex'), created_at: clock.now() },
      }),
    notExpected: ({ recordId }) => runNotFound(recordId),
  };
}
