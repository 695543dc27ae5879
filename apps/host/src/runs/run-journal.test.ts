import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { RunJournal, type RunRecord } from './run-journal.ts';

let dir: string;
let journal: RunJournal;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'phalanx-journal-'));
  journal = new RunJournal(dir);
});

afterEach(async () => {
  await rm(dir, { recursive: true });
});

const record: RunRecord = {
  run_id: randomUUID(),
  automation_id: 'project-1',
  serial: 'phone-1',
  status: 'running',
  error: null,
  started_at: 5,
  ended_at: null,
};

describe('the journal of runs', () => {
  it('keeps the last thing that was written of a run', async () => {
    await journal.write(record);
    const ended: RunRecord = { ...record, status: 'failed', error: { code: 'x', message: 'y' }, ended_at: 6 };
    await journal.write(ended);
    expect(await new RunJournal(dir).readAll()).toEqual([{ runId: record.run_id, record: ended }]);
  });

  it('forgets a run, and one that it never knew', async () => {
    await journal.write(record);
    await journal.remove(record.run_id);
    await journal.remove(randomUUID());
    expect(await journal.readAll()).toEqual([]);
  });

  it.each([
    ['is empty', ''],
    ['is torn', '{"run_id":"'],
    ['is of another run', JSON.stringify({ ...record, run_id: randomUUID() })],
    ['is not a record', '{"status":"dancing"}'],
  ])('knows a run by the name of its file when the file %s', async (_, text) => {
    const runId = randomUUID();
    await writeFile(join(dir, `${runId}.json`), text);
    expect(await journal.readAll()).toEqual([{ runId, record: undefined }]);
  });

  it('clears away what it had not finished writing, and leaves alone what is not its own', async () => {
    await writeFile(join(dir, `${randomUUID()}.tmp`), '{');
    await writeFile(join(dir, 'notes.json'), '{}');
    expect(await journal.readAll()).toEqual([]);
    expect(await readdir(dir)).toEqual(['notes.json']);
  });

  it('makes its folder', async () => {
    const deeper = new RunJournal(join(dir, 'a', 'b'));
    expect(await deeper.readAll()).toEqual([]);
    await deeper.write(record);
    expect(await deeper.readAll()).toHaveLength(1);
  });
});
