import type { Migration } from 'kysely/migration';

import { createAccess, createAudit } from './access.ts';
import { createCluster } from './cluster.ts';
import { createFleet } from './fleet.ts';
import { createJobs } from './jobs.ts';
import { createLogs } from './logs.ts';
import { createProjects } from './projects.ts';
import { createRecords } from './records.ts';
import { createRuns } from './runs.ts';
import { createStoredBytes } from './stored-bytes.ts';
import { createWebhooks } from './webhooks.ts';

/** All tables of the first release whose data later releases take over. `db/tables/tables.ts` has the types of their rows. */
export const schema: Migration = {
  async up(db) {
    const parts = [createAccess, createAudit, createFleet, createRuns, createProjects, createRecords];
    for (const create of [...parts, createStoredBytes, createJobs, createWebhooks, createLogs, createCluster])
      await create(db);
  },
};
