import type { RunError, RunOutcome, RunStatus } from '@phalanx/protocol';
import { sql, type Transaction } from 'kysely';

import type { GroupCommit } from '../db/group-commit.ts';
import type { ActiveRun, ActiveRuns } from './active-runs.ts';
import type { StoredRun } from './stored-run.ts';

// A type, not an interface: only that has the index signature kysely asks for.
type Tables = {
  run_result: { run_id: string; json: string };
};

/** What a run's host said of it. */
export interface RunChange {
  runId: string;
  status: RunStatus;
  error: RunError | null;
  outcome: RunOutcome | null;
  /** JSON text. */
  result: string | null;
  startedAt: number | null;
  endedAt: number | null;
}

interface Batch {
  /** By run. */
  changes: Map<string, RunChange>;
  /** The runs that have changed, by ID. */
  stored: Promise<Map<string, StoredRun>>;
  /** How many have begun, by launch. */
  begun: Map<string, number>;
  /** Stores it now; before, it waits for more. */
  begin: () => void;
}

/** When so many have come together, the next ones are a statement of their own. */
const maxPerStatement = 5000;
/** How long runs that have begun wait for the others of their launch, so that all are one flush of the disk. */
const patienceMs = 5;

/** Stores what becomes of runs. Hosts tell it run by run: what waits for the same transaction is one statement. */
export class RunChangeStore {
  readonly #commits: GroupCommit;
  readonly #activeRuns: ActiveRuns;
  /** Takes more, until its transaction begins with it. */
  #open: Batch | undefined;

  constructor(commits: GroupCommit, activeRuns: ActiveRuns) {
    this.#commits = commits;
    this.#activeRuns = activeRuns;
  }

  /** Stores all of them, or none; one change a run. Returns the runs that have changed, as they are now. */
  async apply(changes: readonly RunChange[]): Promise<StoredRun[]> {
    if (changes.length === 0) return [];
    const batch = this.#batchFor(changes);
    for (const change of changes) batch.changes.set(change.runId, change);
    if (!this.#isMoreToCome(batch, changes)) batch.begin();
    const stored = await batch.stored;
    return changes.flatMap(({ runId }) => stored.get(runId) ?? []);
  }

  /** Whether the callers of all launches that these belong to wait for other runs too. */
  #isMoreToCome({ begun }: Batch, changes: readonly RunChange[]): boolean {
    for (const { runId, status } of changes) {
      const launch = this.#activeRuns.find(runId)?.row.launch;
      if (launch === undefined || status !== 'running') return false;
      begun.set(launch, (begun.get(launch) ?? 0) + 1);
    }
    return begun.entries().every(([launch, count]) => count < this.#activeRuns.countStarting(launch));
  }

  #batchFor(changes: readonly RunChange[]): Batch {
    const open = this.#open;
    // Of two changes of a run, the later one has to find the earlier one stored.
    const takesThem = ({ changes: { size } }: Batch): boolean =>
      size < maxPerStatement && !changes.some(({ runId }) => open?.changes.has(runId));
    if (open !== undefined && takesThem(open)) return open;
    open?.begin();
    return (this.#open = this.#newBatch());
  }

  #newBatch(): Batch {
    const changes = new Map<string, RunChange>();
    const { promise: isDue, resolve: begin } = Promise.withResolvers<void>();
    const timer = setTimeout(begin, patienceMs);
    const stored = isDue.then(() => {
      clearTimeout(timer);
      return this.#commits.write((transaction) => {
        if (this.#open?.changes === changes) this.#open = undefined;
        return this.#store(transaction, [...changes.values()]);
      });
    });
    return { changes, begun: new Map(), stored, begin };
  }

  async #store(
    transaction: Transaction<object>,
    changes: readonly RunChange[],
  ): Promise<Map<string, StoredRun>> {
    const begun = await storeBegun(transaction, changes.filter(isPlainStart));
    // What is in memory need not be read again.
    const rows = changes.flatMap(({ runId, startedAt }) => {
      const run = begun.has(runId) ? this.#activeRuns.find(runId) : undefined;
      return run === undefined ? [] : [startedRow(run, startedAt)];
    });
    const stored = byId(rows);
    const others = changes.filter(({ runId }) => !stored.has(runId));
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

const changeRow = ({ runId, status, outcome, error, startedAt, endedAt }: RunChange) => ({
  id: runId,
  status,
  outcome,
  error_code: error?.code ?? null,
  error_message: error?.message ?? null,
  error_stack: error?.stack ?? null,
  started_at: startedAt,
  ended_at: endedAt,
});

const isPlainStart = ({ status, startedAt }: RunChange): boolean =>
  status === 'running' && startedAt !== null;

/** Most changes by far, and many at once: no index knows what they change. Returns the IDs of runs that were to begin. */
async function storeBegun(
  transaction: Transaction<object>,
  changes: readonly RunChange[],
): Promise<Set<string>> {
  if (changes.length === 0) return new Set();
  const json = JSON.stringify(changes.map(({ runId, startedAt }) => [runId, startedAt]));
  const { rows } = await sql<{ id: string }>`UPDATE run SET status = 'running', started_at = change.value->>1
    FROM json_each(${json}) AS change
    WHERE run.id = change.value->>0 AND run.status = 'starting'
    RETURNING run.id`.execute(transaction);
  return new Set(rows.map(({ id }) => id));
}

async function storeOthers(
  transaction: Transaction<object>,
  changes: readonly RunChange[],
): Promise<StoredRun[]> {
  if (changes.length === 0) return [];
  const json = JSON.stringify(changes.map(changeRow));
  // The last word about a run is its end; only a lost one may turn out to live. What has started stays started.
  const { rows } = await sql<StoredRun>`UPDATE run SET status = change.value->>'status',
      outcome = change.value->>'outcome', error_code = change.value->>'error_code',
      error_message = change.value->>'error_message', error_stack = change.value->>'error_stack',
      started_at = coalesce(change.value->>'started_at', run.started_at), ended_at = change.value->>'ended_at'
    FROM json_each(${json}) AS change
    WHERE run.id = change.value->>'id' AND run.status IN ('starting', 'running', 'lost')
    RETURNING *`.execute(transaction);
  const changed = byId(rows);
  const results = changes.flatMap(({ runId, result }) =>
    result !== null && changed.has(runId) ? { run_id: runId, json: result } : [],
  );
  if (results.length > 0)
    await transaction.withTables<Tables>().replaceInto('run_result').values(results).execute();
  return rows;
}

const byId = (rows: readonly StoredRun[]): Map<string, StoredRun> =>
  new Map(rows.map((row) => [row.id, row]));
