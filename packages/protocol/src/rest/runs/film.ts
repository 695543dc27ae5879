import { Type, type Static } from 'typebox';

import { Id, Uuid, EpochMs } from '../../ids.ts';
import { maxCaptureBytes } from '../../runs/records.ts';
import { success, type RouteContract } from '../contract.ts';
import { pageOf } from '../page.ts';

/** Maximum number of pictures and videos in one film. */
export const maxFilmParts = 5000;
/** Maximum width or height in pixels, beyond any phone's screen. */
const maxSide = 100_000;

export const FilmNumber = Type.Integer({
  minimum: 1,
  maximum: maxFilmParts,
  description: 'Number of the picture or video in the film, from 1',
});
const side = Type.Integer({ minimum: 1, maximum: maxSide });
const no_video = Type.Optional(
  Type.String({ maxLength: 300, description: 'Why there is a picture instead of a video, if known' }),
);

/** Description of a picture or a video that a host uploads. */
export const FilmPartAbout = Type.Object({
  number: FilmNumber,
  /** Time of the picture, or of the start of the video. */
  taken_at: EpochMs,
  /** Time until which a video shows the screen; absent for a picture. */
  ended_at: Type.Optional(EpochMs),
  width: side,
  height: side,
  no_video,
});
export type FilmPartAbout = Static<typeof FilmPartAbout>;

const size_bytes = Type.Integer({ minimum: 1 });

/** Screen of a run from one moment until the next picture or video. */
export const FilmPicture = Type.Object(
  { number: FilmNumber, taken_at: EpochMs, width: side, height: side, size_bytes, no_video },
  { title: 'FilmPicture' },
);
export type FilmPicture = Static<typeof FilmPicture>;

/** Screen of a run between two moments, with one frame size. */
export const FilmVideo = Type.Object(
  { number: FilmNumber, began_at: EpochMs, ended_at: EpochMs, width: side, height: side, size_bytes },
  { title: 'FilmVideo' },
);
export type FilmVideo = Static<typeof FilmVideo>;

/** Option of a launch. */
export const film = Type.Optional(
  Type.Boolean({
    description:
      'Whether a film of each run is recorded: a video of the screen or, if the host or the device cannot record video or a mask is active when the run begins, one or two small pictures per second, with masked parts in black. Read it with `GET /api/v2/runs/:id/film`. Default false',
  }),
);

/** Films of runs. */
export const filmRoutes = {
  list: {
    method: 'GET',
    path: '/api/v2/runs/:id/film',
    operationId: 'runFilm',
    tag: 'Runs',
    summary: 'List the pictures and videos of the film of a run, oldest first',
    description:
      'For runs that were launched with `film`, also while they run. A completed run without a film has one picture, its last screen, if it made any call to its device. A picture is valid until the next picture or video begins; an unchanged screen is one picture. A video covers about ten seconds, and the next one follows without a gap unless the screen was rotated, a mask became active or the device was unavailable. A film of videos ends with one picture, the last screen. `no_video` of a picture says why it is not a video. Visible to everyone who may read the log of the run; kept as long as the run.',
    scope: 'read',
    reach: { projects: 'within', phones: 'run' },
    params: Type.Object({ id: Id }),
    query: Type.Object({
      cursor: Type.Optional(
        Type.String({
          pattern: '^[0-9]{1,4}$',
          description:
            'The number of the last picture or video of the previous page. Default: begin with the first',
        }),
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
      'A video needs `ended_at`, the time until which it shows the screen. Repeating an upload with a number that the film already has is a success, and its body is not read.',
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
