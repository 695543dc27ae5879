import type { FilmPicture, FilmVideo } from '@phalanx/protocol';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';

import { call } from '../api/call.ts';

const pollMs = 2000;

export interface Film {
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
