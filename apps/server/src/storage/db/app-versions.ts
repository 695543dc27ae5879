import type { DriftReason } from '@phalanx/protocol';
import { sql } from 'kysely';
import { rowsAs } from './dialect.ts';
import type { Row, Transaction } from './tables/tables.ts';
import { addToOutbox } from './webhook-outbox.ts';
import { fisher } from './fisher.ts';

/** Runs and records to count for an app version. */
export interface AppVersionCount {
  readonly projectId: string;
  readonly package: string;
  readonly version: string;
  /** Epoch ms. */
  readonly at: number;
  readonly runs?: number;
  readonly badRuns?: number;
  readonly records?: number;
}

export type AppVersion = Row<'app_version'>;

/** Maximum number of app versions per project, because a phone may report any number of them. */
const maxOfProject = 500;
/** Minimum number of runs before a version is judged. */
const minRuns = 5;
const minRatio = 2;
const maxChance = 0.01;

const columns: Parameters<typeof rowsAs>[2] = {
  project_id: 'text',
  package: 'text',
  version: 'text',
  at: 'bigint',
  runs: 'bigint',
  bad_runs: 'bigint',
  records: 'bigint',
};

/**
 * Counts runs and records in the transaction that stores them. Reports a drift when runs on a version are bad more
 * often than on the previous one.
 */
export async function countAppVersions(
  transaction: Transaction,
  counts: readonly AppVersionCount[],
): Promise<void> {
  if (counts.length === 0) return;
  const { rows } = await sql<AppVersion>`INSERT INTO app_version AS known
      (project_id, package, version, runs, bad_runs, records, first_seen, last_seen)
    SELECT project_id, package, version, runs, bad_runs, records, at, at
    FROM ${rowsAs(transaction, 'told', columns, sumsOf(counts))}
    WHERE EXISTS (SELECT 1 FROM project WHERE project.id = told.project_id) AND (
      EXISTS (SELECT 1 FROM app_version AS one WHERE one.project_id = told.project_id
        AND one.package = told.package AND one.version = told.version)
      OR (SELECT count(*) FROM app_version AS one WHERE one.project_id = told.project_id) < ${maxOfProject})
    ON CONFLICT (project_id, package, version) DO UPDATE SET runs = known.runs + excluded.runs,
      bad_runs = known.bad_runs + excluded.bad_runs, records = known.records + excluded.records,
      last_seen = CASE WHEN known.last_seen < excluded.last_seen THEN excluded.last_seen ELSE known.last_seen END
    RETURNING *`.execute(transaction);
  for (const row of rows) await reportIfWorse(transaction, row);
}

/** Reports that a record of this version has reopened a solved group, which had no record of the previous version. */
export async function reportReopened(
  transaction: Transaction,
  {
    projectId,
    package: name,
    version,
    groupId,
  }: Pick<AppVersionCount, 'projectId' | 'package' | 'version'> & { groupId: string },
  at: number,
): Promise<void> {
  const row = await transaction
    .selectFrom('app_version')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('package', '=', name)
    .where('version', '=', version)
    .executeTakeFirst();
  if (row === undefined) return;
  const before = await findBefore(transaction, row);
  await reportDrift(transaction, { row, before, reason: { by: 'reopened', group_id: groupId }, at });
}

/** Sums the counts to one row per version. All transactions use the same order, which prevents deadlocks. */
function sumsOf(counts: readonly AppVersionCount[]) {
  const keyOf = (count: AppVersionCount): string =>
    JSON.stringify([count.projectId, count.package, count.version]);
  const groups = [...Map.groupBy(counts, keyOf)].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return groups.flatMap(([, same]) => {
    const [first] = same;
    if (first === undefined) return [];
    const sum = (of: (count: AppVersionCount) => number | undefined): number =>
      same.reduce((total, count) => total + (of(count) ?? 0), 0);
    return [
      {
        project_id: first.projectId,
        package: first.package,
        version: first.version,
        at: Math.max(...same.map(({ at }) => at)),
        runs: sum(({ runs }) => runs),
        bad_runs: sum(({ badRuns }) => badRuns),
        records: sum(({ records }) => records),
      },
    ];
  });
}

async function reportIfWorse(transaction: Transaction, row: AppVersion): Promise<void> {
  if (row.drift_at !== null || row.bad_runs === 0 || row.runs < minRuns) return;
  const before = await findBefore(transaction, row);
  if (before === undefined || row.bad_runs * before.runs < minRatio * before.bad_runs * row.runs) return;
  const shareOf = ({ bad_runs: bad, runs: all }: AppVersion) => ({ bad, all });
  if (fisher(shareOf(row), shareOf(before)) >= maxChance) return;
  await reportDrift(transaction, { row, before, reason: { by: 'failing' }, at: row.last_seen });
}

/** Finds the latest version with runs that appeared before this one. */
const findBefore = (
  transaction: Transaction,
  { project_id, package: name, version, first_seen }: AppVersion,
): Promise<AppVersion | undefined> =>
  transaction
    .selectFrom('app_version')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('package', '=', name)
    .where('version', '!=', version)
    .where('first_seen', '<=', first_seen)
    .where('runs', '>', 0)
    .orderBy('first_seen', 'desc')
    .orderBy('version', 'desc')
    .executeTakeFirst();

interface Found {
  row: AppVersion;
  before: AppVersion | undefined;
  reason: Pick<DriftReason, 'by' | 'group_id'>;
  at: number;
}

/** Reports a drift once per version, even with concurrent counts. */
async function reportDrift(transaction: Transaction, { row, before, reason, at }: Found): Promise<void> {
  const drift: DriftReason = {
    ...reason,
    runs: row.runs,
    bad_runs: row.bad_runs,
    version_before: before?.version ?? null,
    runs_before: before?.runs ?? 0,
    bad_runs_before: before?.bad_runs ?? 0,
  };
  const { numUpdatedRows } = await transaction
    .updateTable('app_version')
    .set({ drift_at: at, drift: JSON.stringify(drift) })
    .where('project_id', '=', row.project_id)
    .where('package', '=', row.package)
    .where('version', '=', row.version)
    .where('drift_at', 'is', null)
    .executeTakeFirst();
  const query = transaction.selectFrom('project').select(['owner_id', 'name']);
  const project = await query.where('id', '=', row.project_id).executeTakeFirst();
  if (numUpdatedRows === 0n || project === undefined) return;
  const { by, group_id, ...figures } = drift;
  await addToOutbox(transaction, 'drift.found', [
    {
      at,
      data: {
        automation_id: row.project_id,
        automation_name: project.name,
        package: row.package,
        version: row.version,
        reason: by,
        ...figures,
        group_id: group_id ?? null,
      },
      audience: {
        kind: 'record',
        ownerId: project.owner_id,
        automationId: row.project_id,
        isDirect: false,
      },
    },
  ]);
}
