import { Type, type Static } from 'typebox';

import { Id, Uuid, EpochMs } from '../../ids.ts';
import { maxCaptureBytes } from '../../runs/records.ts';
import { success, type RouteContract } from '../contract.ts';
import { pageOf } from '../page.ts';

/** Pictures and videos of one film. */
export const maxFilmParts = 5000;
/** In pixels; beyond any phone's screen. */
const maxSide = 100_000;

export const FilmNumber = Type.Integer({
  minimum: 1,
  maximum: maxFilmParts,
  description: 'Its place in the film, from 1',
});
const side = Type.Integer({ minimum: 1, maximum: maxSide });
const no_video = Type.Optional(
  Type.String({ maxLength: 300, description: 'Why there is a picture and no video, where it is known' }),
);

/** A host's description of a picture or a video that it uploads. */
export const FilmPartAbout = Type.Object({
  number: FilmNumber,
  /** Time of the picture, or of the video's beginning. */
  taken_at: EpochMs,
  /** Time until which a video shows the screen; absent for a picture. */
  ended_at: Type.Optional(EpochMs),
  width: side,
  height: side,
  no_video,
});
export type FilmPartAbout = Static<typeof FilmPartAbout>;

const size_bytes = Type.Integer({ minimum: 1 });

/** The screen of a run from a moment until the next picture or video. */
export const FilmPicture = Type.Object(
  { number: FilmNumber, taken_at: EpochMs, width: side, height: side, size_bytes, no_video },
  { title: 'FilmPicture' },
);
export type FilmPicture = Static<typeof FilmPicture>;

/** The screen of a run from one moment to another, in one size. */
export const FilmVideo = Type.Object(
  { number: FilmNumber, began_at: EpochMs, ended_at: EpochMs, width: side, height: side, size_bytes },
  { title: 'FilmVideo' },
);
export type FilmVideo = Static<typeof FilmVideo>;

/** Option of a launch. */
export const film = Type.Optional(
  Type.Boolean({
    description:
      'Whether a film is made of each run: a video of its screen; where the host or the phone makes none, or something is masked, one or two small pictures a second, black where masks are. `GET /api/v2/runs/:id/film` has it',
  }),
);

/** The films of runs. */
export const filmRoutes = {
  list: {
    method: 'GET',
    path: '/api/v2/runs/:id/film',
    operationId: 'runFilm',
    tag: 'Runs',
    summary: 'List the pictures and videos of the film of a run, oldest first',
    description:
      'For runs that were launched with `film`, also while they go on. A run without one that has completed and has called its phone has one picture: its last screen. A screen that does not change is one picture: each stands until the next, or until a video begins. A video is a part of some ten seconds: the next one follows at once unless the screen was turned, something was masked or the phone was away. `no_video` of a picture says why it is none. Whoever may read the log of the run may see its film, which is kept as long as the run.',
    scope: 'read',
    reach: { projects: 'within', phones: 'run' },
    params: Type.Object({ id: Id }),
    query: Type.Object({
      cursor: Type.Optional(
        Type.String({ pattern: '^[0-9]{1,4}$', description: 'The number after which to read on' }),
      ),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 1000 })),
    }),
    responses: { 200: pageOf({ pictures: Type.Array(FilmPicture), videos: Type.Array(FilmVideo) }) },
    errors: ['run_not_found'],
  },
  read: {
    method: 'GET',
    path: '/api/v2/runs/:id/film/:number',
    operationId: 'readFilmPart',
    tag: 'Runs',
    summary: 'Read a picture or a video of the film of a run: a JPEG file, or an MP4 file with H.264',
    scope: 'read',
    reach: { projects: 'within', phones: 'run' },
    params: Type.Object({ id: Id, number: Type.String({ pattern: '^[1-9][0-9]{0,3}$' }) }),
    responses: { 200: ['image/jpeg', 'video/mp4'], 206: ['image/jpeg', 'video/mp4'] },
    errors: ['run_not_found', 'film_part_not_found', 'range_not_satisfiable', 'bucket_unavailable'],
  },
  put: {
    method: 'PUT',
    path: '/api/v2/hosts/runs/:run_id/film/:part_id',
    operationId: 'putFilmPart',
    tag: 'Hosts',
    summary: 'Upload a picture or a video of the film of a run of the host',
    description:
      'A video says until when it shows the screen. A number that the film has is a success, and its body is not read.',
    scope: 'host',
    reach: { projects: 'refused', phones: 'refused' },
    audit: null,
    params: Type.Object({ run_id: Uuid, part_id: Uuid }),
    query: FilmPartAbout,
    bodyTypes: ['image/jpeg', 'video/mp4'],
    bodyLimitBytes: maxCaptureBytes,
    responses: { 200: Type.Object({ success }) },
    errors: ['run_not_found', 'wrong_capture_type', 'storage_full', 'capture_bytes_exceeded'],
  },
} as const satisfies Record<string, RouteContract>;
