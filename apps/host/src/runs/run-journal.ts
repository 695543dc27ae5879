import { renameSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { Compile } from 'typebox/compile';

import { RunRecord } from './run-record.ts';

const validator = Compile(RunRecord);
const uuid = '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';
const filePattern = new RegExp(`^(${uuid})\\.json$`);

/** What the journal says of one run; no record when its file can't be read. */
export interface JournaledRun {
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
    // At once, because the run waits for it: this takes less than the way to a thread and back, which pictures keep busy.
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
