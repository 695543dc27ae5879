/**
 * Compared: `GET /automation-project/out-of-steps` on a server that has 1,000,000 records, and on one that has 1,000:
 * by turns without a cursor and with `before_cursor` in the middle, with total and position each time.
 *
 * Fair because the requests, the replies and the client are the same, both servers run at the same time, and the
 * databases were filled in the same way: records over 30 days in time order, 1,000 for each automation, with indexes
 * and counts as the service leaves them. The cursor is another one each time. The notes have 100,000 records, and what
 * reading one row by its primary key costs without HTTP and anything else.
 */
import { copyFile } from 'node:fs/promises';
import path from 'node:path';
import { Type } from 'typebox';

import type { BenchProcess } from '../harness/bench-process.ts';
import { interleave, median } from '../harness/rounds.ts';
import type { Row, RowResult } from '../harness/row.ts';
import type { Stage } from '../harness/stage.ts';
import { ask, newToken, type Api } from '../http/api.ts';

const sizes = { few: 1000, some: 100_000, many: 1_000_000 };
const listPath = '/api/v2/automation-project/out-of-steps';
const rounds = 9;

const Ids = Type.Array(Type.String());
const Page = Type.Object({ total: Type.Integer(), currentPage: Type.Integer() });

/** A server with its records, and how long its replies took, by kind of request. */
interface Filled {
  api: Api;
  middleIds: string[];
  fillMs: number;
  newestMs: number[];
  middleMs: number[];
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
    const some = await startFilled(stage, store, { records: sizes.some });
    const many = await startFilled(stage, store, { records: sizes.many });
    const keyMs: number[] = [];
    const medians = await interleave({
      rounds,
      figure: async () => {
        await askAll(load, some);
        return askAll(load, many);
      },
      baseline: async () => {
        keyMs.push(await store.call('readByKey', { file: copy, ids: few.middleIds }, Type.Number()));
        return askAll(load, few);
      },
    });
    const text = ({ newestMs, middleMs }: Filled): string =>
      `newest ${median(newestMs).toFixed(2)} ms, in the middle ${median(middleMs).toFixed(2)} ms`;
    return {
      ...medians,
      unit: 'ms',
      targets: [{ of: 'ratio', bound: 'at most', value: 1.5 }],
      notes: [
        `1,000 records: ${text(few)}`,
        `100,000 records: ${text(some)}`,
        `1,000,000 records: ${text(many)}; filled in ${(many.fillMs / 1000).toFixed(0)} s`,
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
  return { api, middleIds, fillMs, newestMs: [], middleMs: [] };
}

/** That the filled database is one that the service counts right in. */
async function requireCounts(api: Api, middleIds: readonly string[], count: number): Promise<void> {
  const newest = await ask(api, listPath, Page);
  const first = await ask(api, `${listPath}?cursor=${middleIds[0]}`, Page);
  const before = Math.floor((count - middleIds.length) / 2);
  if (newest.total === count && newest.currentPage === 1 && first.currentPage === count - before) return;
  throw new Error(`the counts are wrong: ${JSON.stringify({ newest, first, count })}`);
}

/** Resolves with the mean of the two kinds' medians. */
async function askAll(load: BenchProcess, { api, middleIds, newestMs, middleMs }: Filled): Promise<number> {
  const requests = middleIds.flatMap((id) => [
    { method: 'GET', path: listPath },
    { method: 'GET', path: `${listPath}?before_cursor=${id}` },
  ]);
  const tookMs = await load.call('sequence', { ...api, requests }, Type.Array(Type.Number()));
  const newest = median(tookMs.filter((_, index) => index % 2 === 0));
  const middle = median(tookMs.filter((_, index) => index % 2 === 1));
  newestMs.push(newest);
  middleMs.push(middle);
  return (newest + middle) / 2;
}
