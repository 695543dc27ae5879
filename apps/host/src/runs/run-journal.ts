import { renameSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Compile } from 'typebox/compile';
import {
  EpochMs,
  isEnded,
  maxRunResultBytes,
  RunApp,
  RunError,
  RunOutcome,
  type RunReport,
  RunStatus,
  Uuid,
} from '@phalanx/protocol';
import { Type, type Static } from 'typebox';

/** Record of a run that the host keeps on disk until the server has stored the run's end. */
export const RunRecord = Type.Object({
  run_id: Uuid,
  automation_id: Type.String(),
  serial: Type.String(),
  status: RunStatus,
  error: Type.Union([RunError, Type.Null()]),
  outcome: Type.Optional(RunOutcome),
  /** Result as JSON text. */
  result: Type.Optional(Type.String({ maxLength: maxRunResultBytes })),
  app: Type.Optional(RunApp),
  started_at: Type.Union([EpochMs, Type.Null()]),
  ended_at: Type.Union([EpochMs, Type.Null()]),
});

/** Maximum length of an error message: thousands of reports share one frame. */
const maxMessageLength = 4000;

const validator = Compile(RunRecord);
const uuid = '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';
const filePattern = new RegExp(`^(${uuid})\\.json$`);

/** Journal entry of one run. `record` is undefined when its file is unreadable. */
interface JournaledRun {
  runId: string;
  record: RunRecord | undefined;
}

/**
 * Stores one file per run, replaced as a whole, so that a killed host knows afterwards which runs had begun. The name
 * of a file that a power loss has emptied still identifies the run.
 */
export class RunJournal {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  async readAll(): Promise<JournaledRun[]> {
    await mkdir(this.#dir, { recursive: true });
    const names = await readdir(this.#dir);
    const unfinished = names.filter((name) => name.endsWith('.tmp'));
    await Promise.all(unfinished.map((name) => rm(join(this.#dir, name), { force: true })));
    const matches = names.map((name) => filePattern.exec(name));
    const runIds = matches.flatMap((match) => match?.[1] ?? []);
    return Promise.all(runIds.map(async (runId) => ({ runId, record: await this.#read(runId) })));
  }

  /** Writes the record. Writes of one run must not overlap. */
  async write(record: RunRecord): Promise<void> {
    const temporary = join(this.#dir, `${record.run_id}.tmp`);
    // Writes synchronously, because the run waits: this is faster than a round trip to the thread pool, which pictures
    // keep busy.
    writeFileSync(temporary, JSON.stringify(record));
    renameSync(temporary, this.#path(record.run_id));
  }

  async remove(runId: string): Promise<void> {
    await rm(this.#path(runId), { force: true });
  }

  async #read(runId: string): Promise<RunRecord | undefined> {
    try {
      const record: unknown = JSON.parse(await readFile(this.#path(runId), 'utf8'));
      return validator.Check(record) && record.run_id === runId ? record : undefined;
    } catch {
      return undefined;
    }
  }

  #path(runId: string): string {
    return join(this.#dir, `${runId}.json`);
  }
}

export type RunRecord = Static<typeof RunRecord>;

/** End of a run. */
export interface RunEnd {
  status: 'completed' | 'failed' | 'stopped' | 'timed_out';
  error: RunError | null;
  /** Outcome when it says more than the status. */
  outcome?: RunOutcome;
  /** Result of the run as JSON text. */
  result?: string;
  /** Main app of the run, as far as the phone reports it. */
  app?: RunApp;
}

export function failed(code: string, message: string, stack: string | null = null): RunEnd {
  return { status: 'failed', error: { code, message: message.slice(0, maxMessageLength), stack } };
}

/** Converts the record to the protocol. An end that must not be reported yet appears as the state before it. */
export function toRunReport(record: RunRecord, mayTellEnd: boolean): RunReport {
  const { automation_id: _automation, serial: _serial, ...report } = record;
  if (!isEnded(record.status) || mayTellEnd) return report;
  const { run_id, started_at } = record;
  const status = started_at === null ? 'starting' : 'running';
  return { run_id, status, error: null, started_at, ended_at: null };
}
