import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { LogTable } from '../logs/log-table.ts';
import { openHostStore } from './host-store.ts';

const runId = '0190a1b2-0000-7000-8000-000000000001';
const recordId = '0190a1b2-0000-7000-8000-000000000002';
const cutId = '0190a1b2-0000-7000-8000-000000000003';
const fileId = '0190a1b2-0000-7000-8000-000000000004';
const hash = `${createHash('sha256').update('SIM 1').digest('hex').slice(0, 32)}.json`;
const known = JSON.stringify({
  key: 'SIM 1',
  number: 'SIM 1',
  place: 'usb:1',
  kind: 'Pixel',
  androidId: null,
});

/** Files of a host of an earlier version that was killed. */
const files: Readonly<Record<string, string>> = {
  [`runs/${runId}.json`]: '{"run_id":"1"}',
  'runs/torn.tmp': '{',
  [`spool/${runId}.1.ndjson`]: '[1,[5,0,1,"one"],[6,0,1,"two"]]\n[3,[7,0,1,"three"]]\n',
  [`spool/${runId}.4.ndjson`]: '[4,[8,0,1,"four"]]\n[5,[9,0',
  [`records/${recordId}/record.json`]: '{"report":1}',
  [`records/${recordId}/captures`]: 'captures',
  [`records/${cutId}.tmp/record.json`]: '{"report":2}',
  [`records/${cutId}.tmp/captures`]: 'capt',
  [`files/${fileId}.json`]: '{"file_id":"1"}',
  [`files/${fileId}.data`]: 'content',
  [`known-phones/${hash}`]: known,
  [`phones/${hash}`]: '[{"at":1}]',
  [`phone-settings/${hash}`]: '{"system font_scale":"1.0"}',
  'phones/of-no-known-phone.json': '[]',
  'host-id': 'id',
};

it('a host takes over once what an earlier version has left in its folders', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'phalanx-import-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(join(dir, path, '..'), { recursive: true });
    await writeFile(join(dir, path), content);
  }
  for (let start = 1; start <= 2; start += 1) {
    const store = await openHostStore({ dir, log: pino({ level: 'silent' }) });
    const rows = async (table: string) =>
      (
        await store.thread.run<{ key: string; value: string }>({
          text: `SELECT * FROM ${table} ORDER BY key`,
        })
      ).map(({ key, value }) => [key, value]);
    expect(await rows('run')).toEqual([[runId, '{"run_id":"1"}']]);
    expect(await rows('record')).toEqual([
      [recordId, '{"report":1}'],
      [cutId, '{"report":2}'],
    ]);
    expect(await rows('run_file')).toEqual([[fileId, '{"file_id":"1"}']]);
    expect(await rows('known_phone')).toEqual([['SIM 1', known]]);
    expect(await rows('phone_history')).toEqual([['SIM 1', '[{"at":1}]']]);
    expect(await rows('earlier_settings')).toEqual([['SIM 1', '{"system font_scale":"1.0"}']]);
    expect(await new LogTable(store.thread).read(runId)).toEqual({
      firstSeq: 1,
      entries: ['[5,0,1,"one"]', '[6,0,1,"two"]', '[7,0,1,"three"]', '[8,0,1,"four"]'],
    });
    expect((await readdir(dir)).toSorted()).toEqual(
      ['files', 'host-id', 'host.db', 'host.db-shm', 'host.db-wal', 'records'].toSorted(),
    );
    expect(await readdir(join(dir, 'records'))).toEqual([`${recordId}.data`, `${cutId}.data`]);
    expect(await readFile(join(dir, 'records', `${cutId}.data`), 'utf8')).toBe('capt');
    expect(await readdir(join(dir, 'files'))).toEqual([`${fileId}.data`]);
    await store.close();
  }
});
