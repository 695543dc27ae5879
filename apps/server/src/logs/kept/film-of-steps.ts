import type { FilmReader } from '../../film/film-reader.ts';

const mostParts = 1000;

/** What the film has from the beginning of the first step of a reply to the end of the last. */
export async function filmOfSteps(
  film: FilmReader,
  runId: string,
  reply: string,
): ReturnType<FilmReader['filmOf']> {
  const from = numberAt(reply, reply.indexOf(timestampKey), timestampKey);
  const last = numberAt(reply, reply.lastIndexOf(timestampKey), timestampKey);
  const duration = numberAt(reply, reply.lastIndexOf(durationKey), durationKey);
  if (from === undefined || last === undefined) return { pictures: [], videos: [] };
  return film.filmOf(runId, { from, to: last + (duration ?? 0), limit: mostParts });
}

/** Within a text of a step its quotes are escaped, so it is found nowhere else. */
const timestampKey = '"timestamp":';
const durationKey = '"duration_ms":';

function numberAt(text: string, at: number, key: string): number | undefined {
  return at === -1 ? undefined : Number.parseInt(text.slice(at + key.length, at + key.length + 16), 10);
}
