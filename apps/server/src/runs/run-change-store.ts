import type { RunError, RunOutcome, RunStatus } from '@phalanx/protocol';
import { sql, type Transaction } from 'kysely';

import type { GroupCommit } from '../db/group-commit.ts';
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
}

/** When so many have come together, the next ones are a statement of their own. */
const maxPerStatement = 5000;

/** Stores what becomes of runs. Hosts tell it run by run: what waits for the same transaction is one statement. */
export class RunChangeStore {
  readonly #commits: GroupCommit;
  /** Takes more, until its transaction begins with it. */
  #open: Batch | undefined;

  constructor(commits: GroupCommit) {
    this.#commits = commits;
  }

  /** Stores all of them, or none; one change a run. Returns the runs that have changed, as they are now. */
  async apply(changes: readonly RunChange[]): Promise<StoredRun[]> {
    if (changes.length === 0) return [];
    const batch = this.#batchFor(changes);
    for (const change of changes) batch.changes.set(change.runId, change);
    const stored = await batch.stored;
    return changes.flatMap(({ runId }) => stored.get(runId) ?? []);
  }

  #batchFor(changes: readonly RunChange[]): Batch {
    const open = this.#open;
    // Of two changes of a run, the later one has to find the earlier one stored.
    const takesThem = ({ changes: { size } }: Batch): boolean =>
      size < maxPerStatement && !changes.some(({ runId }) => open?.changes.has(runId));
    if (open !== undefined && takesThem(open)) return open;
    return (this.#open = this.#begin());
  }

  #begin(): Batch {
    const changes = new Map<string, RunChange>();
    const stored = this.#commits.write((transaction) => {
      if (this.#open?.changes === changes) this.#open = undefined;
      return store(transaction, [...changes.values()]);
    });
    return { changes, stored };
  }
}

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

async function store(
  transaction: Transaction<object>,
  changes: readonly RunChange[],
): Promise<Map<string, StoredRun>> {
  const json = JSON.stringify(changes.map(changeRow));
  // The last word about a run is its end; only a lost one may turn out to live. What has started stays started.
  const { rows } = await sql<StoredRun>`UPDATE run SET status = change.value->>'status',
      outcome = change.value->>'outcome', error_code = change.value->>'error_code',
      error_message = change.value->>'error_message', error_stack = change.value->>'error_stack',
      started_at = coalesce(change.value->>'started_at', run.started_at), ended_at = change.value->>'ended_at'
    FROM json_each(${json}) AS change
    WHERE run.id = change.value->>'id' AND run.status IN ('starting', 'running', 'lost')
    RETURNING *`.execute(transaction);
  const changed = new Map(rows.map((row) => [row.id, row]));
  const results = changes.flatMap(({ runId, result }) =>
    result !== null && changed.has(runId) ? { run_id: runId, json: result } : [],
  );
  if (results.length > 0)
    await transaction.withTables<Tables>().replaceInto('run_result').values(results).execute();
  return changed;
}
