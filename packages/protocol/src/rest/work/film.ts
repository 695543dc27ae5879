import { Type } from 'typebox';

import { FilmPicture, FilmPictureAbout } from '../../runs/film.ts';
import { Id, Uuid } from '../../ids.ts';
import { maxCaptureBytes } from '../../runs/records.ts';
import { success, type RouteContract } from '../contract.ts';
import { pageOf } from '../page.ts';

/** What a launch asks for. */
export const film = Type.Optional(
  Type.Boolean({
    description:
      'Whether a film is made of each run: one or two small pictures of its screen a second, black where masks are. `GET /api/v2/runs/:id/film` has it',
  }),
);

/** The films of runs. */
export const filmRoutes = {
  list: {
    method: 'GET',
    path: '/api/v2/runs/:id/film',
    operationId: 'runFilm',
    tag: 'Runs',
    summary: 'List the pictures of the film of a run, oldest first',
    description:
      'For runs that were launched with `film`, also while they go on. A screen that does not change is one picture: each stands until the next. Whoever may read the log of the run may see its film, which is kept as long as the run.',
    scope: 'read',
    params: Type.Object({ id: Id }),
    query: Type.Object({
      cursor: Type.Optional(
        Type.String({ pattern: '^[0-9]{1,4}$', description: 'The number after which to read on' }),
      ),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 1000 })),
    }),
    responses: { 200: pageOf({ pictures: Type.Array(FilmPicture) }) },
    errors: ['run_not_found'],
  },
  read: {
    method: 'GET',
    path: '/api/v2/runs/:id/film/:number',
    operationId: 'readFilmPicture',
    tag: 'Runs',
    summary: 'Read a picture of the film of a run, a JPEG file',
    scope: 'read',
    params: Type.Object({ id: Id, number: Type.String({ pattern: '^[1-9][0-9]{0,3}$' }) }),
    responses: { 200: ['image/jpeg'], 206: ['image/jpeg'] },
    errors: ['run_not_found', 'film_picture_not_found', 'range_not_satisfiable', 'bucket_unavailable'],
  },
  put: {
    method: 'PUT',
    path: '/api/v2/hosts/runs/:run_id/film/:picture_id',
    operationId: 'putFilmPicture',
    tag: 'Hosts',
    summary: 'Upload a picture of the film of a run of the host',
    description: 'A number that the film has is a success, and its body is not read.',
    scope: 'host',
    audit: null,
    params: Type.Object({ run_id: Uuid, picture_id: Uuid }),
    query: FilmPictureAbout,
    bodyTypes: ['image/jpeg'],
    bodyLimitBytes: maxCaptureBytes,
    responses: { 200: Type.Object({ success }) },
    errors: ['run_not_found', 'wrong_capture_type', 'storage_full', 'capture_bytes_exceeded'],
  },
} as const satisfies Record<string, RouteContract>;
