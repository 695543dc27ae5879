/**
 * Compares `GET /automation-project/out-of-steps` on a server with 1,000,000 records of one user and on one with
 * 1,000, with total and position each time. Counts the slowest of three kinds of requests: without a cursor, with
 * `before_cursor` in the middle, and with every filter.
 *
 * Fair because the requests, the replies and the client are the same, both servers run at the same time, and the
 * databases were filled in the same way: records over 30 days in time order, 1,000 for each automation, with indexes
 * as the service creates them. The cursor differs each time. All records are in the list, which is counted each time.
 * The notes contain 10,000 and 100,000 records, the cost of reading one row by its primary key without HTTP and other
 * work, and the latency of another request in the meantime.
 */
import { copyFile } from 'node:fs/promises';
import path from 'node:path';
import { Type } from 'typebox';

import type { BenchProcess } from '../harness/bench-process.ts';
import { interleave, median } from '../harness/rounds.ts';
import type { Row, RowResult } from '../harness/row.ts';
import type { Stage } from '../harness/stage.ts';
import { ask, newToken, type Api } from '../http/api.ts';

const sizes = { few: 1000, some: [10_000, 100_000], many: 1_000_000 };
const listPath = '/api/v2/automation-project/out-of-steps';
const otherPath = '/api/v2/me';
const filters = 'type=crash&status=pending&partial=false&tag=default';
const rounds = 5;
const requestsOfKind = 30;

const Ids = Type.Array(Type.String());
const Page = Type.Object({ total: Type.Integer(), currentPage: Type.Integer() });

type Kind = 'newest' | 'middle' | 'filtered';
const kinds: readonly Kind[] = ['newest', 'middle', 'filtered'];

/** Server with its records, and the latencies by kind of request. */
interface Filled {
  api: Api;
  count: number;
  middleIds: string[];
  fillMs: number;
  tookMs: Record<Kind, number[]>;
  /** Latencies of the requests in the meantime, in ms. */
  otherMs: number[];
}

export const records: Row = {
  name: 'records',
  title: 'one record out of 1,000,000 with total and position',
  against: 'the same out of 1,000',
  async measure(stage: Stage): Promise<RowResult> {
    const store = await stage.start('records-fill');
    const load = await stage.start('http-load');
    const copy = path.join(await stage.folder(), 'copy.db');
    const few = await startFilled(stage, store, { records: sizes.few, copy });
    const other = await stage.start('http-load');
    const loads = { load, other };
    const some: Filled[] = [];
    for (const size of sizes.some) some.push(await startFilled(stage, store, { records: size }));
    const many = await startFilled(stage, store, { records: sizes.many });
    const keyMs: number[] = [];
    const medians = await interleave({
      rounds,
      figure: async () => {
        for (const one of some) await askAll(loads, one);
        return askAll(loads, many);
      },
      baseline: async () => {
        keyMs.push(await store.call('readByKey', { file: copy, ids: few.middleIds }, Type.Number()));
        return askAll(loads, few);
      },
    });
    const text = ({ count, tookMs, otherMs }: Filled): string =>
      `${count} records: ${kinds.map((kind) => `${kind} ${median(tookMs[kind]).toFixed(1)} ms`).join(', ')}; another request meanwhile ${median(otherMs).toFixed(2)} ms, at most ${Math.max(...otherMs).toFixed(0)}`;
    return {
      ...medians,
      unit: 'ms',
      targets: [{ of: 'figure', bound: 'at most', value: 120 }],
      notes: [
        ...[few, ...some, many].map(text),
        `1,000,000 records were filled in in ${(many.fillMs / 1000).toFixed(0)} s`,
        `a bare read by primary key: ${(1000 * median(keyMs)).toFixed(1)} µs`,
      ],
    };
  },
};

async function startFilled(
  stage: Stage,
  store: BenchProcess,
  { records: count, copy }: { records: number; copy?: string },
): Promise<Filled> {
  const [dataDir, token] = [await stage.folder(), newToken()];
  const startedAt = performance.now();
  const middleIds = await store.call('fill', { dataDir, token, records: count }, Ids);
  const fillMs = performance.now() - startedAt;
  if (copy !== undefined) await copyFile(path.join(dataDir, 'phalanx.db'), copy);
  const server = await stage.start('server');
  const api = { url: await server.call('listen', { dataDir, token }, Type.String()), token };
  await requireCounts(api, middleIds, count);
  const tookMs = { newest: [], middle: [], filtered: [] };
  return { api, count, middleIds, fillMs, tookMs, otherMs: [] };
}

/** Requires that the service counts the filled database correctly. */
async function requireCounts(api: Api, middleIds: readonly string[], count: number): Promise<void> {
  const newest = await ask(api, listPath, Page);
  const first = await ask(api, `${listPath}?cursor=${middleIds[0]}`, Page);
  const before = Math.floor((count - middleIds.length) / 2);
  if (newest.total === count && newest.currentPage === 1 && first.currentPage === count - before) return;
  throw new Error(`the counts are wrong: ${JSON.stringify({ newest, first, count })}`);
}

/** Resolves with the median of the slowest kind of request. */
async function askAll(
  { load, other }: { load: BenchProcess; other: BenchProcess },
  { api, middleIds, tookMs, otherMs }: Filled,
): Promise<number> {
  const ids = middleIds.slice(0, requestsOfKind);
  const pathsOf: Record<Kind, string[]> = {
    newest: ids.map(() => listPath),
    middle: ids.map((id) => `${listPath}?before_cursor=${id}`),
    filtered: ids.map((id) => `${listPath}?before_cursor=${id}&${filters}`),
  };
  const medians: number[] = [];
  for (const kind of kinds) {
    const counting = sendAll(load, api, pathsOf[kind]);
    otherMs.push(...(await sendAll(other, api, Array(10 * requestsOfKind).fill(otherPath))));
    const took = await counting;
    tookMs[kind].push(...took);
    medians.push(median(took));
  }
  return Math.max(...medians);
}

const sendAll = (load: BenchProcess, api: Api, paths: readonly string[]): Promise<number[]> =>
  load.call(
    'sequence',
    { ...api, requests: paths.map((address) => ({ method: 'GET', path: address })) },
    Type.Array(Type.Number()),
  );
