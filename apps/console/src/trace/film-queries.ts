import type { FilmPicture } from '@phalanx/protocol';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';

import { call } from '../api/call.ts';

const pollMs = 2000;

/** The film of a run; empty when there is none. While the run goes on, more pictures come. */
export const filmQuery = (runId: string, isActive: boolean) => {
  const queryKey = ['run', runId, 'film', isActive];
  return queryOptions({
    queryKey,
    queryFn: async ({ client, signal }): Promise<FilmPicture[]> => {
      const known = isActive ? (client.getQueryData<FilmPicture[]>(queryKey) ?? []) : [];
      return [...known, ...(await readAfter(runId, known.at(-1)?.number ?? 0, signal))];
    },
    refetchInterval: isActive ? pollMs : false,
    placeholderData: keepPreviousData,
  });
};

async function readAfter(runId: string, after: number, signal: AbortSignal): Promise<FilmPicture[]> {
  const pictures: FilmPicture[] = [];
  for (let cursor: string | null = String(after); cursor !== null;) {
    const input = { params: { id: runId }, query: { cursor } };
    const page: { pictures: FilmPicture[]; next_cursor: string | null } = await call(
      'GET /api/v2/runs/:id/film',
      input,
      { signal },
    );
    pictures.push(...page.pictures);
    cursor = page.next_cursor;
  }
  return pictures;
}
