import type { Migration } from 'kysely/migration';

import { accessTables } from './001-access.ts';
import { deviceTables } from './002-devices.ts';
import { runTables } from './003-runs.ts';
import { projectTables } from './004-projects.ts';
import { recordTables } from './005-records.ts';
import { nameTables } from './006-names.ts';
import { runDetails } from './007-run-details.ts';
import { shareTables } from './008-shares.ts';
import { usageTables } from './009-usage.ts';
import { auditTables } from './010-audit.ts';
import { sessionTables } from './011-sessions.ts';
import { keptLogTable } from './012-kept-logs.ts';
import { runIndexes } from './013-run-indexes.ts';
import { recordIndexes } from './015-record-indexes.ts';
import { runDeviceIndex } from './017-run-device-index.ts';
import { projectPacks } from './025-project-packs.ts';
import { hostSessions } from './026-host-sessions.ts';
import { oneRunOfProject } from './027-one-run-of-a-project.ts';
import { logTables } from './036-log-tables.ts';
import { deviceStates } from './037-device-states.ts';
import { hostNames } from './038-host-names.ts';
import { severalServers } from './040-several-servers.ts';
import { sharedChanges } from './041-shared-changes.ts';
import { lastLogIds } from './042-last-log-ids.ts';
import { sessionChanges } from './043-session-changes.ts';

/** In the order of their names. One that has been released is never changed: a later one mends it. */
export const migrations: Record<string, Migration> = {
  '001-access': accessTables,
  '002-devices': deviceTables,
  '003-runs': runTables,
  '004-projects': projectTables,
  '005-records': recordTables,
  '006-names': nameTables,
  '007-run-details': runDetails,
  '008-shares': shareTables,
  '009-usage': usageTables,
  '010-audit': auditTables,
  '011-sessions': sessionTables,
  '012-kept-logs': keptLogTable,
  '013-run-indexes': runIndexes,
  '015-record-indexes': recordIndexes,
  '017-run-device-index': runDeviceIndex,
  '025-project-packs': projectPacks,
  '026-host-sessions': hostSessions,
  '027-one-run-of-a-project': oneRunOfProject,
  '036-log-tables': logTables,
  '037-device-states': deviceStates,
  '038-host-names': hostNames,
  '040-several-servers': severalServers,
  '041-shared-changes': sharedChanges,
  '042-last-log-ids': lastLogIds,
  '043-session-changes': sessionChanges,
};
