import { reachesProject } from '../../http/requests/policy.ts';
import { logPageSize, logRoutes, type LogLevel, logLevels, runRoutes, traceRoutes } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';

import type { Clock } from '../../kernel/clock.ts';
import type { DeviceAccess } from '../../fleet/devices/device-access.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import type { Principal } from '../../http/requests/principal.ts';
import { addRawRoute } from '../../http/requests/route.ts';
import type { RunAccess } from '../runs/run-access.ts';
import { cursorOf } from './log-query.ts';
import { readAutomationLogs } from './read-automation-logs.ts';
import type { RecentLogs } from './tables/recent-logs.ts';
import type { FilmReader } from '../film/film-notes.ts';
import type { Turns } from '../../kernel/limits/turns.ts';
import type { StoredRun } from '../runs/stored-run.ts';
import type { Archives } from './kept/keep-entries.ts';
import { type LoggedRun, readRunLog, readRunLogEnd, readTrace } from './kept/read-run-log.ts';

interface LogRoutesOptions {
  devices: DeviceAccess;
  runAccess: RunAccess;
  store: RecentLogs;
  clock: Clock;
}

/** `POST /devices/automationLogs` */
export function addLogRoutes(
  app: FastifyInstance,
  { devices, runAccess, store, clock }: LogRoutesOptions,
): void {
  addRawRoute(app, logRoutes.read, async ({ principal, body }, reply) => {
    const from = cursorOf(body.from, 'Field from');
    const { userId } = principal;
    const { device } = await devices.getCached(body.device_id, userId);
    requireProjects(principal, body.automation_ids);
    const automationIds = await runAccess.selectReadable(userId, device, body.automation_ids);
    const deviceId = device.id;
    const logs = await readAutomationLogs(store, { deviceId, automationIds, from, nowMs: clock.now() });
    return reply.type('application/json; charset=utf-8').send(logs);
  });
}

function requireProjects(principal: Principal, automationIds: readonly string[]): void {
  const foreign = automationIds.filter((id) => !reachesProject(principal, id));
  if (foreign.length === 0) return;
  throw ApiError.of('forbidden', { reason: `This token has no access to automation ${foreign.join(', ')}` });
}

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
      from,
      levels: levelsOf(query.levels),
      search: query.search ?? '',
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

const maxParts = 1000;

/** Finds the part of the film between the start of a reply's first step and the end of its last step. */
async function filmOfSteps(film: FilmReader, runId: string, reply: string): ReturnType<FilmReader['filmOf']> {
  const from = numberAt(reply, reply.indexOf(timestampKey), timestampKey);
  const last = numberAt(reply, reply.lastIndexOf(timestampKey), timestampKey);
  const duration = numberAt(reply, reply.lastIndexOf(durationKey), durationKey);
  if (from === undefined || last === undefined) return { pictures: [], videos: [] };
  return film.filmOf(runId, { from, to: last + (duration ?? 0), limit: maxParts });
}

/** Key of a step's time. It occurs nowhere else, because quotes within texts of steps are escaped. */
const timestampKey = '"timestamp":';
const durationKey = '"duration_ms":';

function numberAt(text: string, at: number, key: string): number | undefined {
  return at === -1 ? undefined : Number.parseInt(text.slice(at + key.length, at + key.length + 16), 10);
}
