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
  /** JSON text. */
  result: Type.Optional(Type.String({ maxLength: maxRunResultBytes })),
  app: Type.Optional(RunApp),
  started_at: Type.Union([EpochMs, Type.Null()]),
  ended_at: Type.Union([EpochMs, Type.Null()]),
});

/** Reports travel by the thousand in one frame. */
const maxMessageLength = 4000;

const validator = Compile(RunRecord);
const uuid = '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';
const filePattern = new RegExp(`^(${uuid})\\.json$`);

/** Entry of the journal for one run; no record when its file can't be read. */
interface JournaledRun {
  runId: string;
  record: RunRecord | undefined;
}

/**
 * One file a run, replaced as a whole, so that a killed host knows afterwards which runs it had begun. A file that a
 * power cut has emptied still says that by its name.
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

  /** Writes of one run must not overlap. */
  async write(record: RunRecord): Promise<void> {
    const temporary = join(this.#dir, `${record.run_id}.tmp`);
    // Writes at once, as the run waits: this takes less than the way to a thread and back, which pictures keep busy.
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
  /** Outcome, where it says more than the status. */
  outcome?: RunOutcome;
  /** JSON text of what the run gave as its result. */
  result?: string;
  /** The app that it was about, as far as the phone says. */
  app?: RunApp;
}

export function failed(code: string, message: string, stack: string | null = null): RunEnd {
  return { status: 'failed', error: { code, message: message.slice(0, maxMessageLength), stack } };
}

/** The record in the words of the protocol. An end that the server may not know yet is reported as what was before it. */
export function toRunReport(record: RunRecord, mayTellEnd: boolean): RunReport {
  const { automation_id: _automation, serial: _serial, ...report } = record;
  if (!isEnded(record.status) || mayTellEnd) return report;
  const { run_id, started_at } = record;
  const status = started_at === null ? 'starting' : 'running';
  return { run_id, status, error: null, started_at, ended_at: null };
}
