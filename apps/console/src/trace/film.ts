import type { FilmPicture, FilmVideo, RunStep } from '@phalanx/protocol';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';

import { call } from '../api/call.ts';

/** A screen that rests for long is not looked at for as long. */
const mostMs = 2000;
const leastMs = 100;
/** Between two moments of a video. */
const momentMs = 500;

/** A place in a film: a picture, or a moment of a video. */
export interface FilmMoment {
  /** Epoch milliseconds. */
  readonly time: number;
  readonly part: FilmPicture | FilmVideo;
}

export const isVideo = (part: FilmMoment['part']): part is FilmVideo => 'ended_at' in part;

/** All places of a film in their order. The ends of steps are places, so that what a step has left can be shown. */
export function momentsOf(
  pictures: readonly FilmPicture[],
  videos: readonly FilmVideo[],
  steps: readonly RunStep[],
): FilmMoment[] {
  const ends = steps.map(({ timestamp, duration_ms }) => timestamp + duration_ms);
  const moving = videos.flatMap((part) => timesOf(part, ends).map((time) => ({ time, part })));
  const isInVideo = ({ taken_at }: FilmPicture): boolean =>
    videos.some(({ began_at, ended_at }) => taken_at >= began_at && taken_at < ended_at);
  const still = pictures
    .filter((picture) => !isInVideo(picture))
    .map((part) => ({ time: part.taken_at, part }));
  return [...moving, ...still].toSorted((one, other) => one.time - other.time);
}

function timesOf({ began_at, ended_at }: FilmVideo, ends: readonly number[]): number[] {
  const times = new Set(ends.filter((end) => end > began_at && end < ended_at));
  for (let time = began_at; time < ended_at; time += momentMs) times.add(time);
  return [...times].toSorted((one, other) => one - other);
}

/** Place in the film of what the phone showed at that time: the newest moment by then. */
export function placeAt(moments: readonly FilmMoment[], at: number): number {
  return Math.max(
    0,
    moments.findLastIndex(({ time }) => time <= at),
  );
}

/** The step that ran at the moment, or the last one before it. */
export const stepOf = (steps: readonly RunStep[], { time }: Pick<FilmMoment, 'time'>): RunStep | undefined =>
  steps.findLast(({ timestamp }) => timestamp <= time) ?? steps[0];

/** What the phone showed when the step ended. */
export const placeOfStep = (moments: readonly FilmMoment[], step: RunStep): number =>
  placeAt(moments, step.timestamp + step.duration_ms);

/** How long a picture stands while the film plays. */
export function standsMs(moments: readonly FilmMoment[], place: number): number {
  const [moment, next] = [moments[place], moments[place + 1]];
  if (moment === undefined || next === undefined) return leastMs;
  return Math.min(mostMs, Math.max(leastMs, next.time - moment.time));
}

/** Such as `12.4 s`, since the beginning of the film. */
export const timeText = (moments: readonly FilmMoment[], place: number): string =>
  `${(((moments[place]?.time ?? 0) - (moments[0]?.time ?? 0)) / 1000).toFixed(1)} s`;

const pollMs = 2000;

interface Film {
  readonly pictures: readonly FilmPicture[];
  readonly videos: readonly FilmVideo[];
}

const noFilm: Film = { pictures: [], videos: [] };

/** The film of a run; empty when there is none. While the run goes on, more of it comes. */
export const filmQuery = (runId: string, isActive: boolean) => {
  const queryKey = ['run', runId, 'film', isActive];
  return queryOptions({
    queryKey,
    queryFn: async ({ client, signal }): Promise<Film> => {
      const known = isActive ? (client.getQueryData<Film>(queryKey) ?? noFilm) : noFilm;
      const more = await readAfter(runId, lastNumber(known), signal);
      return {
        pictures: [...known.pictures, ...more.pictures],
        videos: [...known.videos, ...more.videos],
      };
    },
    refetchInterval: isActive ? pollMs : false,
    placeholderData: keepPreviousData,
  });
};

const lastNumber = ({ pictures, videos }: Film): number =>
  Math.max(pictures.at(-1)?.number ?? 0, videos.at(-1)?.number ?? 0);

async function readAfter(runId: string, after: number, signal: AbortSignal): Promise<Film> {
  const [pictures, videos]: [FilmPicture[], FilmVideo[]] = [[], []];
  for (let cursor: string | null = String(after); cursor !== null;) {
    const input = { params: { id: runId }, query: { cursor } };
    const page: { pictures: FilmPicture[]; videos: FilmVideo[]; next_cursor: string | null } = await call(
      'GET /api/v2/runs/:id/film',
      input,
      { signal },
    );
    pictures.push(...page.pictures);
    videos.push(...page.videos);
    cursor = page.next_cursor;
  }
  return { pictures, videos };
}
