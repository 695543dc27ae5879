import { Type, type Static } from 'typebox';

import { EpochMs } from '../ids.ts';

/** Pictures of one film. */
export const maxFilmPictures = 5000;
/** In pixels; beyond any phone's screen. */
const maxSide = 100_000;

export const FilmNumber = Type.Integer({
  minimum: 1,
  maximum: maxFilmPictures,
  description: 'Its place in the film, from 1',
});
const side = Type.Integer({ minimum: 1, maximum: maxSide });

/** What a host says of a picture that it uploads. */
export const FilmPictureAbout = Type.Object({
  number: FilmNumber,
  taken_at: EpochMs,
  width: side,
  height: side,
});
export type FilmPictureAbout = Static<typeof FilmPictureAbout>;

/** The screen of a run from a moment until the next picture. */
export const FilmPicture = Type.Object(
  { ...FilmPictureAbout.properties, size_bytes: Type.Integer({ minimum: 1 }) },
  { title: 'FilmPicture' },
);
export type FilmPicture = Static<typeof FilmPicture>;
