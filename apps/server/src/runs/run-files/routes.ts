import { createHash, type Hash } from 'node:crypto';
import { type RunFile, runRoutes } from '@phalanx/protocol';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Captures } from '../captures/captures.ts';
import { type Uploads, addUploadRoute } from '../captures/uploads.ts';
import type { Runs } from '../runs/feature.ts';
import type { RunFileStore, StoredRunFile } from './store.ts';
import type { StoredBlob } from '../../storage/blobs/blob-store.ts';
import { sendBlob } from '../captures/send-blob.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import type { Principal } from '../../http/requests/principal.ts';
import { addRawRoute, addRoute } from '../../http/requests/route.ts';
import type { RunFileKey } from './run-file-notes.ts';

interface RunFileRoutesOptions {
  store: RunFileStore;
  captures: Captures;
  uploads: Uploads<RunFileKey>;
  runs: Pick<Runs, 'access' | 'store'>;
}

/** `GET /runs/:id/files`, `GET /runs/:id/files/:name` and `PUT /hosts/runs/:run_id/files/:file_id` */
export async function addRunFileRoutes(app: FastifyInstance, options: RunFileRoutesOptions): Promise<void> {
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
  name,
  size_bytes,
  sha256,
  content_type,
  created_at,
});

/** Picture types that a browser may render within a page of the console. */
const pictureTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg']);

/**
 * Sets the reply headers of a file. Any user's code may have written it: no browser may execute it, render it as a
 * page, or sniff its type.
 */
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

/**
 * Returns the file name parameters of `Content-Disposition` (RFC 6266). File names contain no quotes and no control
 * characters.
 */
function fileNameParameters(name: string): string {
  const encoded = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `filename="${name.replaceAll(/[^\x20-\x7e]|%/g, '_')}"; filename*=UTF-8''${encoded}`;
}

/** Hashes a body while passing it through. */
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
