import {
  logPageSize,
  logRoutes,
  logWindowMs,
  type LogLevel,
  logLevels,
  runRoutes,
  traceRoutes,
} from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';

import type { Clock } from '../../kernel/clock.ts';
import type { DeviceAccess } from '../../fleet/devices/device-access.ts';
import { ApiError } from '../../kernel/errors/api-error.ts';
import type { Principal } from '../../http/requests/principal.ts';
import { addRawRoute } from '../../http/requests/route.ts';
import { TimeSlice } from '../../kernel/limits/time-slice.ts';
import type { RunAccess } from '../runs/run-access.ts';
import { entrySeparator, replyOf, type StoredBatch, idOfEntry } from './log-batch.ts';
import { cursorOf, entriesOf, type LogPiece, type LogQuery, pageBytes } from './log-query.ts';
import type { RecentLogs } from './tables/recent-logs.ts';
import type { FilmReader } from '../film/film-notes.ts';
import type { Turns } from '../../kernel/limits/turns.ts';
import type { StoredRun } from '../runs/stored-run.ts';
import type { Archives } from './kept/keep-entries.ts';
import { type LoggedRun, readRunLog, readRunLogEnd, readTrace } from './kept/read-run-log.ts';

interface Page {
  entries: string[];
  bytes: number;
}

const isFull = (page: Page): boolean => page.entries.length >= logPageSize || page.bytes >= pageBytes;

const emptyPage = (): Page => ({ entries: [], bytes: 0 });

/** Adds entries to a page, and returns whether there is room for more. */
function add(page: Page, entries: readonly string[]): boolean {
  for (const entry of entries) {
    if (isFull(page)) return false;
    page.entries.push(entry);
    page.bytes += entry.length;
  }
  return !isFull(page);
}

/** Entries begin with their ID, so their order as text is that of the IDs. */
const isAfter = (entry: string | undefined, bound: string): boolean =>
  entry !== undefined && bound !== '' && idOfEntry(entry) > bound;

/** Reads as many entries as one reply holds. `bound`: the ID after which no entry is wanted; empty when all are. */
async function readUpTo(
  logs: RecentLogs,
  query: LogQuery,
  { automationId, bound, slice }: { automationId: string; bound: string; slice: TimeSlice },
): Promise<readonly string[]> {
  const page = emptyPage();
  for await (const batches of logs.read({ deviceId: query.deviceId, automationId }, query.from)) {
    for (const batch of batches) {
      const entries = entriesOf(batch, query);
      if (!add(page, entries) || isAfter(entries.at(-1), bound)) return page.entries;
      if (slice.isOver) await slice.next();
    }
  }
  return page.entries;
}

/**
 * Merges the entries of several automations in one order. A stream is cut only where it fills a reply alone, so the
 * entries that it left out are newer than all entries of any reply with it. Never more than two replies are in memory.
 */
async function mergeStreams(
  logs: RecentLogs,
  query: LogQuery,
  automationIds: readonly string[],
): Promise<LogPiece[]> {
  let page = emptyPage();
  const slice = new TimeSlice();
  for (const automationId of automationIds) {
    const bound = isFull(page) ? idOfEntry(page.entries.at(-1) ?? '') : '';
    const stream = await readUpTo(logs, query, { automationId, bound, slice });
    if (slice.isOver) await slice.next();
    if (stream.length === 0) continue;
    const merged = [...page.entries, ...stream].sort((a, b) => (a < b ? -1 : 1));
    page = emptyPage();
    add(page, merged);
  }
  if (page.entries.length === 0) return [];
  return [{ text: Buffer.from(page.entries.join(entrySeparator)), count: page.entries.length }];
}

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
    const logs = await readLogs(store, { deviceId, automationIds, from, nowMs: clock.now() });
    return reply.type('application/json; charset=utf-8').send(logs);
  });
}

function requireProjects({ projectIds }: Principal, automationIds: readonly string[]): void {
  const foreign = projectIds === null ? [] : automationIds.filter((id) => !projectIds.has(id));
  if (foreign.length === 0) return;
  throw ApiError.of('forbidden', { reason: `This token is not for the automation ${foreign.join(', ')}` });
}

const isWhole = (batch: StoredBatch, { from, nowMs }: LogQuery): boolean =>
  batch.first_id > from && batch.oldest > nowMs - logWindowMs;

/**
 * Cuts a batch to the query. Whole batches are passed on as they are stored; the entries are looked at only where the
 * query cuts a batch.
 */
function pieceOf(batch: StoredBatch, query: LogQuery, room: number): LogPiece {
  if (isWhole(batch, query) && batch.count <= room) return wholeOf(batch);
  const entries = entriesOf(batch, query).slice(0, room);
  return { text: Buffer.from(entries.join(entrySeparator)), count: entries.length };
}

const wholeOf = ({ entries, count, reply }: StoredBatch): LogPiece =>
  reply === undefined ? { text: entries, count } : { text: entries, count, reply };

/** Batches for one reply, as many as it holds. */
class Pieces {
  readonly all: LogPiece[] = [];
  #room = logPageSize;
  #bytes = 0;

  /** Adds a batch, and returns whether there is room for more. */
  add(batch: StoredBatch, query: LogQuery): boolean {
    const piece = pieceOf(batch, query, this.#room);
    if (piece.count === 0) return true;
    this.all.push(piece);
    this.#room -= piece.count;
    this.#bytes += piece.text.length;
    return this.#room > 0 && this.#bytes < pageBytes;
  }
}

async function readStream(logs: RecentLogs, query: LogQuery, automationId: string): Promise<LogPiece[]> {
  const pieces = new Pieces();
  const slice = new TimeSlice();
  for await (const batches of logs.read({ deviceId: query.deviceId, automationId }, query.from)) {
    for (const batch of batches) {
      if (!pieces.add(batch, query)) return pieces.all;
      if (slice.isOver) await slice.next();
    }
  }
  return pieces.all;
}

const comma = Buffer.from(',');

/** The body of a reply: `{"logs":[…]}`, oldest first, as many entries as one reply holds. */
async function readLogs(logs: RecentLogs, query: LogQuery): Promise<Buffer> {
  const automationIds = [...new Set(query.automationIds)];
  const [only] = automationIds;
  const pieces =
    automationIds.length === 1 && only !== undefined
      ? await readStream(logs, query, only)
      : await mergeStreams(logs, query, automationIds);
  const [first] = pieces;
  if (pieces.length === 1 && first?.reply !== undefined) return first.reply;
  return replyOf(pieces.flatMap((piece, index) => (index === 0 ? [piece.text] : [comma, piece.text])));
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

/** Finds the part of the film from the beginning of the first step of a reply to the end of the last one. */
async function filmOfSteps(film: FilmReader, runId: string, reply: string): ReturnType<FilmReader['filmOf']> {
  const from = numberAt(reply, reply.indexOf(timestampKey), timestampKey);
  const last = numberAt(reply, reply.lastIndexOf(timestampKey), timestampKey);
  const duration = numberAt(reply, reply.lastIndexOf(durationKey), durationKey);
  if (from === undefined || last === undefined) return { pictures: [], videos: [] };
  return film.filmOf(runId, { from, to: last + (duration ?? 0), limit: maxParts });
}

/** Key of a step's time. Quotes within texts of steps are escaped, so it is found nowhere else. */
const timestampKey = '"timestamp":';
const durationKey = '"duration_ms":';

function numberAt(text: string, at: number, key: string): number | undefined {
  return at === -1 ? undefined : Number.parseInt(text.slice(at + key.length, at + key.length + 16), 10);
}
