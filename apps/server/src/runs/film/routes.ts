import { filmRoutes } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';
import { type Captures, contentTypes } from '../captures/captures.ts';
import { type Uploads, addUploadRoute } from '../captures/uploads.ts';
import type { Runs } from '../runs/feature.ts';
import { blobOfPart, filmView, kindOfPart, type PartKey } from './film-notes.ts';
import type { FilmStore } from './store.ts';
import { sendBlob } from '../captures/send-blob.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import type { Principal } from '../../http/requests/principal.ts';
import { readPage } from '../../http/requests/replies/page.ts';
import { addRawRoute, addRoute } from '../../http/requests/route.ts';

interface FilmRoutesOptions {
  store: FilmStore;
  captures: Captures;
  uploads: Uploads<PartKey>;
  runs: Pick<Runs, 'access' | 'store'>;
}

const defaultParts = 1000;

/** `GET /runs/:id/film`, `GET /runs/:id/film/:number` and `PUT /hosts/runs/:run_id/film/:part_id` */
export async function addFilmRoutes(app: FastifyInstance, options: FilmRoutesOptions): Promise<void> {
  const { store, captures, uploads, runs } = options;
  const getRunId = async (principal: Principal, id: string): Promise<string> =>
    (await runs.access.getReadable(await runs.store.find(id.toLowerCase()), principal, id)).id;

  addRoute(app, filmRoutes.list, async ({ principal, params, query }) => {
    const id = await getRunId(principal, params.id);
    const { items, next_cursor } = await readPage(
      { limit: defaultParts, ...query },
      ({ cursor: after = 0, limit }) => store.list(id, { after: Number(after), limit }),
      ({ number }) => String(number),
    );
    return { success: true, ...filmView(items), next_cursor };
  });

  addRawRoute(app, filmRoutes.read, async ({ principal, params, raw }, reply) => {
    const part = await store.find(await getRunId(principal, params.id), Number(params.number));
    const blob = part && (await captures.find(blobOfPart(part)));
    if (blob === undefined)
      throw ApiError.of('film_part_not_found', { run_id: params.id, number: params.number });
    void reply.headers({
      'content-type': contentTypes[kindOfPart(part ?? {})],
      'accept-ranges': 'bytes',
      etag: `"${blob.version}"`,
      // A part never changes. It is cached only for an hour, privately: users who may no longer see the run must not
      // find it in a shared browser.
      'cache-control': 'private, max-age=3600, immutable',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
    });
    return sendBlob(blob, raw, reply);
  });

  await addUploadRoute(app, filmRoutes.put, {
    kindOf: ({ query }) => kindOfPart(query),
    take: ({ principal, params, query: about }, body) => {
      const { userId } = principal;
      const ids = { recordId: params.run_id.toLowerCase(), screenId: params.part_id.toLowerCase() };
      return uploads.take(principal, { ...ids, kind: kindOfPart(about), about, userId }, body);
    },
  });
}
