import { type LogLevel, logLevels, logPageSize, runRoutes, traceRoutes } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';

import type { FilmReader } from '../../film/film-notes.ts';
import type { Principal } from '../../http/principal.ts';
import { addRawRoute } from '../../http/route.ts';
import type { Turns } from '../../limits/turns.ts';
import type { RunAccess } from '../../runs/run-access.ts';
import type { StoredRun } from '../../runs/stored-run.ts';
import { cursorOf } from '../log-query.ts';
import type { RecentLogs } from '../tables/recent-logs.ts';
import type { Archives } from './keep-entries.ts';
import { type LoggedRun, readRunLog, readRunLogEnd, readTrace } from './read-run-log.ts';

const defaultSteps = 1000;

interface RunLogRoutesOptions {
  store: RecentLogs;
  kept: Archives;
  access: RunAccess;
  findRun: (runId: string) => Promise<StoredRun | undefined>;
  turns: Turns;
  film: FilmReader;
}

/** `GET /runs/:id/logs` and `/trace` */
export function addRunLogRoutes(
  app: FastifyInstance,
  { store, kept, access, findRun, turns, film }: RunLogRoutesOptions,
): void {
  const getRun = async (principal: Principal, id: string): Promise<LoggedRun> => {
    const run = await access.getReadable(await findRun(id.toLowerCase()), principal, id);
    return { runId: run.id, deviceId: run.device_id, automationId: run.automation_id };
  };
  addRawRoute(app, runRoutes.logs, async ({ principal, params, query }, reply) => {
    const from = cursorOf(query.from, 'Query parameter from');
    const run = await getRun(principal, params.id);
    const page = {
      ...{ from, levels: levelsOf(query.levels), search: query.search ?? '' },
      limit: query.limit ?? logPageSize,
    };
    const sources = { store, kept: kept.log };
    const body = await turns.run(principal.userId, () =>
      query.last === undefined ? readRunLog(sources, run, page) : readRunLogEnd(sources, run, query.last),
    );
    return reply.type('application/json; charset=utf-8').send(body);
  });
  addRawRoute(app, traceRoutes.read, async ({ principal, params, query }, reply) => {
    const from = cursorOf(query.from, 'Query parameter from');
    const run = await getRun(principal, params.id);
    const page = { from, levels: null, search: '', limit: query.limit ?? defaultSteps };
    const steps = await turns.run(principal.userId, () => readTrace({ store, kept: kept.trace }, run, page));
    const { pictures, videos } = await filmOfSteps(film, run.runId, steps);
    const shown = JSON.stringify({ film: pictures, film_videos: videos });
    return reply.type('application/json; charset=utf-8').send(`${steps.slice(0, -1)},${shown.slice(1)}`);
  });
}

function levelsOf(text: string | undefined): readonly LogLevel[] | null {
  if (text === undefined) return null;
  const wanted = text.split(',');
  return logLevels.filter((level) => wanted.includes(level));
}

const mostParts = 1000;

/** What the film has from the beginning of the first step of a reply to the end of the last. */
async function filmOfSteps(film: FilmReader, runId: string, reply: string): ReturnType<FilmReader['filmOf']> {
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
