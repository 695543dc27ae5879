import type { RunApp, RunError, RunOutcome, RunStatus } from '@phalanx/protocol';
import { sql } from 'kysely';
import type { Transaction } from '../../storage/db/database.ts';
import { type AppVersionCount, countAppVersions } from '../../storage/db/app-versions.ts';
import { EpochOver, selectCurrent } from '../../storage/db/epochs.ts';
import type { GroupCommit } from '../../storage/db/group-commit.ts';
import { addToOutbox } from '../../storage/db/webhook-outbox.ts';
import { rowsAs } from '../../storage/db/dialect.ts';
import type { ActiveRun, ActiveRuns } from './active-runs.ts';
import { runQueue, endOf, runColumns, type StoredRun } from './stored-run.ts';

/** Change of a run, reported by its host or caused by the host's silence. */
export interface RunChange {
  runId: string;
  status: RunStatus;
  error: RunError | null;
  outcome: RunOutcome | null;
  /** JSON text. */
  result: string | null;
  /** App that the run automated. */
  app?: RunApp | undefined;
  startedAt: number | null;
  endedAt: number | null;
  /** Whether a part of the log may still come after the end. */
  isLogLeft?: boolean;
  /** Whether the host asks for permission to begin. A called-off run does not begin. */
  isAsked?: boolean;
}

/** Epoch of the connection that reported a change; null when the change applies to any connection of the host. */
type Epoch = number | null;

interface Batch {
  /** Changes by run. */
  changes: Map<string, RunChange & { epoch: Epoch }>;
  stored: Promise<Stored>;
}

interface Stored {
  /** Changed runs, by ID. */
  runs: Map<string, StoredRun>;
  isOver: (epoch: Epoch) => boolean;
}

/** Maximum number of changes per statement. Further changes get another statement. */
const maxPerStatement = 5000;

/** Stores changes of runs. Hosts report run by run, so changes that wait for the same transaction are batched. */
export class RunChangeStore {
  readonly #commits: GroupCommit;
  readonly #activeRuns: ActiveRuns;
  /** Batch that accepts changes until its transaction begins. */
  #open: Batch | undefined;

  constructor(commits: GroupCommit, activeRuns: ActiveRuns) {
    this.#commits = commits;
    this.#activeRuns = activeRuns;
  }

  /**
   * Stores all changes or none, with one change per run. Returns the changed runs in their new state. Throws
   * `EpochOver` when the connection is stale.
   */
  async apply(changes: readonly RunChange[], epoch: Epoch): Promise<StoredRun[]> {
    if (changes.length === 0) return [];
    const batch = this.#batchFor(changes);
    for (const change of changes) batch.changes.set(change.runId, { ...change, epoch });
    const { runs, isOver } = await batch.stored;
    if (isOver(epoch)) throw new EpochOver();
    return changes.flatMap(({ runId }) => runs.get(runId) ?? []);
  }

  #batchFor(changes: readonly RunChange[]): Batch {
    const open = this.#open;
    // A later change of a run must see the earlier one stored.
    const takesThem = ({ changes: { size } }: Batch): boolean =>
      size < maxPerStatement && !changes.some(({ runId }) => open?.changes.has(runId));
    if (open !== undefined && takesThem(open)) return open;
    return (this.#open = this.#newBatch());
  }

  #newBatch(): Batch {
    const changes: Batch['changes'] = new Map();
    const stored = this.#commits.write((transaction) => {
      if (this.#open?.changes === changes) this.#open = undefined;
      return this.#storeCurrent(transaction, [...changes.values()]);
    }, runQueue);
    return { changes, stored };
  }

  async #storeCurrent(
    transaction: Transaction,
    changes: readonly (RunChange & { epoch: Epoch })[],
  ): Promise<Stored> {
    const epochs = [...new Set(changes.map(({ epoch }) => epoch))].filter((epoch) => epoch !== null);
    const current = await selectCurrent(transaction, epochs);
    const isOver = (epoch: Epoch): boolean => epoch !== null && !current.has(epoch);
    const runs = await this.#store(
      transaction,
      changes.filter(({ epoch }) => !isOver(epoch)),
    );
    return { runs, isOver };
  }

  async #store(transaction: Transaction, changes: readonly RunChange[]): Promise<Map<string, StoredRun>> {
    const begun = await storeBegun(transaction, changes.filter(isPlainStart));
    // Runs in memory need not be read again.
    const rows = changes.flatMap(({ runId, startedAt }) => {
      const run = begun.has(runId) ? this.#activeRuns.find(runId) : undefined;
      return run === undefined ? [] : [startedRow(run, startedAt)];
    });
    const stored = byId(rows);
    const others = changes.filter(({ runId, isAsked }) => !stored.has(runId) && isAsked !== true);
    for (const row of await storeOthers(transaction, others)) stored.set(row.id, row);
    return stored;
  }
}

const startedRow = ({ row, stopRequested }: ActiveRun, startedAt: number | null): StoredRun => ({
  ...row,
  status: 'running',
  stop_requested: Number(stopRequested),
  started_at: startedAt,
});

const changeRow = ({ runId, status, outcome, error, startedAt, endedAt, isLogLeft }: RunChange) => ({
  id: runId,
  status,
  outcome,
  error_code: error?.code ?? null,
  error_message: error?.message ?? null,
  error_stack: error?.stack ?? null,
  started_at: startedAt,
  ended_at: endedAt,
  log_left: Number(isLogLeft === true),
});

const changeColumns = {
  id: 'text',
  status: 'text',
  outcome: 'text',
  error_code: 'text',
  error_message: 'text',
  error_stack: 'text',
  started_at: 'bigint',
  ended_at: 'bigint',
  log_left: 'bigint',
} as const;

const startColumns = { id: 'text', started_at: 'bigint', is_asked: 'bigint' } as const;

const isPlainStart = ({ status, startedAt }: RunChange): boolean =>
  status === 'running' && startedAt !== null;

/**
 * Stores starts of runs, by far the most frequent changes, which come in large batches. No index contains the columns
 * that they change. Returns the IDs of the runs that have begun.
 */
async function storeBegun(transaction: Transaction, changes: readonly RunChange[]): Promise<Set<string>> {
  if (changes.length === 0) return new Set();
  const starts = changes.map(({ runId, startedAt, isAsked }) => ({
    id: runId,
    started_at: startedAt,
    is_asked: Number(isAsked === true),
  }));
  const { rows } = await sql<{ id: string }>`UPDATE run SET status = 'running', started_at = change.started_at
    FROM ${rowsAs(transaction, 'change', startColumns, starts)}
    WHERE run.id = change.id AND run.status = 'starting' AND (change.is_asked = 0 OR run.stop_requested = 0)
    RETURNING run.id`.execute(transaction);
  return new Set(rows.map(({ id }) => id));
}

async function storeOthers(transaction: Transaction, changes: readonly RunChange[]): Promise<StoredRun[]> {
  if (changes.length === 0) return [];
  // An end is final; only a lost run may turn out to be alive. A started run stays started.
  const { rows } = await sql<StoredRun>`UPDATE run SET status = change.status, outcome = change.outcome,
      error_code = change.error_code, error_message = change.error_message, error_stack = change.error_stack,
      started_at = coalesce(change.started_at, run.started_at), ended_at = change.ended_at,
      log_left = change.log_left
    FROM ${rowsAs(transaction, 'change', changeColumns, changes.map(changeRow))}
    WHERE run.id = change.id AND run.status IN ('starting', 'running', 'lost')
    RETURNING ${sql.join(runColumns.map((name) => sql.ref(`run.${name}`)))}`.execute(transaction);
  const changed = byId(rows);
  const results = changes.flatMap(({ runId, result }) =>
    result !== null && changed.has(runId) ? { run_id: runId, json: result } : [],
  );
  if (results.length > 0)
    await transaction
      .insertInto('run_result')
      .values(results)
      .onConflict((conflict) =>
        conflict.column('run_id').doUpdateSet({ json: (eb) => eb.ref('excluded.json') }),
      )
      .execute();
  const ended = rows.filter(({ ended_at }) => ended_at !== null);
  await addToOutbox(transaction, 'run.ended', ended.map(endOf));
  const apps = new Map(changes.map(({ runId, app }) => [runId, app]));
  await countAppVersions(
    transaction,
    ended.flatMap((row) => countOf(row, apps.get(row.id))),
  );
  return rows;
}

/** Counts only runs of projects that ended by themselves: a lost phone or a stop says nothing about an app. */
function countOf(row: StoredRun, app: RunApp | undefined): AppVersionCount[] {
  const { status, outcome, error_code: code, launch_id: launchId, automation_id: projectId } = row;
  const isBad = status === 'failed' || status === 'timed_out' || outcome !== null;
  const endedByItself = status !== 'failed' || code === 'uncaught_error';
  if (app === undefined || launchId !== null || !endedByItself || !counted.has(status)) return [];
  return [{ projectId, ...app, at: row.ended_at ?? 0, runs: 1, badRuns: isBad ? 1 : 0 }];
}

const counted: ReadonlySet<RunStatus> = new Set(['completed', 'failed', 'timed_out']);

const byId = (rows: readonly StoredRun[]): Map<string, StoredRun> =>
  new Map(rows.map((row) => [row.id, row]));
