import { Type, type Static } from 'typebox';

import { EpochMs } from '../ids.ts';

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

/** What a host says of a picture or a video that it uploads. */
export const FilmPartAbout = Type.Object({
  number: FilmNumber,
  /** Of a video: its beginning. */
  taken_at: EpochMs,
  /** Of a video alone: until when it shows the screen. */
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
