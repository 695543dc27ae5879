import { type LogLevel, logLevels, logPageSize, runRoutes } from '@phalanx/protocol';
import type { FastifyInstance } from 'fastify';

import { addRawRoute } from '../../http/route.ts';
import type { RunAccess } from '../../runs/run-access.ts';
import type { StoredRun } from '../../runs/stored-run.ts';
import { cursorOf } from '../log-cursor.ts';
import type { RecentLogs } from '../log-store.ts';
import type { KeptLogs } from './kept-logs.ts';
import { readRunLog } from './read-run-log.ts';

interface RunLogRoutesOptions {
  store: RecentLogs;
  kept: KeptLogs;
  access: RunAccess;
  findRun: (runId: string) => Promise<StoredRun | undefined>;
}

/** `GET /runs/:id/logs` */
export function addRunLogRoutes(
  app: FastifyInstance,
  { store, kept, access, findRun }: RunLogRoutesOptions,
): void {
  addRawRoute(app, runRoutes.logs, async ({ principal, params, query }, reply) => {
    const from = cursorOf(query.from, 'Query parameter from');
    const run = await access.getReadable(await findRun(params.id.toLowerCase()), principal, params.id);
    const { id: runId, device_id: deviceId, automation_id: automationId } = run;
    const body = await readRunLog(
      { store, kept },
      { runId, deviceId, automationId },
      {
        from,
        levels: levelsOf(query.levels),
        search: query.search ?? '',
        limit: query.limit ?? logPageSize,
      },
    );
    return reply.type('application/json; charset=utf-8').send(body);
  });
}

function levelsOf(text: string | undefined): readonly LogLevel[] | null {
  if (text === undefined) return null;
  const wanted = text.split(',');
  return logLevels.filter((level) => wanted.includes(level));
}
