import path from 'node:path';

import { isPostgres } from '../../db/dialect.ts';
import { probeOfPart } from '../../faults/probe-folder.ts';
import type { Context } from '../../context.ts';
import type { LogTables } from './log-tables.ts';
import { createPostgresTables } from './postgres-tables-store.ts';
import { createProgressStore } from './progress-store.ts';
import { SqliteTables } from './sqlite-tables-store.ts';

/** Throws when the folder of the logs can't be used. */
export function openLogTables({ database, dataDir, clock, log, faults }: Context): LogTables {
  const progress = createProgressStore(database);
  if (isPostgres(database)) return createPostgresTables(database, progress);
  const folder = path.join(dataDir, 'logs');
  const tables = new SqliteTables({ folder, clock, log, progress });
  faults.addProbe('disk', probeOfPart(folder));
  return tables;
}
