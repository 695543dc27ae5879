import type { Migration } from 'kysely/migration';

import { createAccess, createAudit } from './001-schema/access.ts';
import { createWebhooks, createJobs, createRuns } from './001-schema/work.ts';
import { createCluster, createFleet, createLogs } from './001-schema/fleet.ts';
import { createProjects } from './001-schema/projects.ts';
import { createStoredBytes } from './001-schema/stored-bytes.ts';
import { createRecords } from './001-schema/records.ts';
import { acceptedShares } from './002-accepted-shares.ts';
import { addLaunchLimits } from './003-launch-limits.ts';
import { leases } from './004-leases.ts';
import { workBytes } from './005-work-bytes.ts';
import { mailUse } from './006-mail-use.ts';
import { deviceIdentity } from './007-device-identity.ts';
import { tokensOfWebhooks } from './008-tokens-of-webhooks.ts';
import { formatsOfWebhooks } from './009-formats-of-webhooks.ts';
import { projectChanges } from './010-project-changes.ts';
import { problemsOfHosts } from './011-problems-of-hosts.ts';
import { batteries } from './012-batteries.ts';
import { countedRecords } from './013-counted-records.ts';
import { work } from './014-work.ts';
import { webhookWork } from './015-webhook-work.ts';
import { groupWork } from './016-group-work.ts';
import { scheduleWork } from './017-schedule-work.ts';
import { statedInvalidations } from './018-stated-invalidations.ts';

/**
 * Creates all tables of the first release whose data later releases carry over. `storage/db/tables/tables.ts` has the
 * types of their rows.
 */
const schema: Migration = {
  async up(db) {
    const parts = [createAccess, createAudit, createFleet, createRuns, createProjects, createRecords];
    for (const create of [...parts, createStoredBytes, createJobs, createWebhooks, createLogs, createCluster])
      await create(db);
  },
};

/** Migrations in the order of their names. A released migration is never changed; a later one corrects it. */
export const migrations: Record<string, Migration> = {
  '001-schema': schema,
  '002-accepted-shares': acceptedShares,
  '003-launch-limits': addLaunchLimits,
  '004-leases': leases,
  '005-work-bytes': workBytes,
  '006-mail-use': mailUse,
  '007-device-identity': deviceIdentity,
  '008-tokens-of-webhooks': tokensOfWebhooks,
  '009-formats-of-webhooks': formatsOfWebhooks,
  '010-project-changes': projectChanges,
  '011-problems-of-hosts': problemsOfHosts,
  '012-batteries': batteries,
  '013-counted-records': countedRecords,
  '014-work': work,
  '015-webhook-work': webhookWork,
  '016-group-work': groupWork,
  '017-schedule-work': scheduleWork,
  '018-stated-invalidations': statedInvalidations,
};
