import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { openHostStore } from '../../store/host-store.ts';
import { PhoneHistories } from './phone-histories.ts';

it('a full disk is told of once for all phones, without a stack, and again only after a success', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'phalanx-histories-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const lines: string[] = [];
  const sink = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      lines.push(chunk.toString());
      done();
    },
  });
  const log = pino({ level: 'info' }, sink);
  const store = await openHostStore({ dir, log });
  const histories = new PhoneHistories(store, log);
  await histories.load();
  const phones = Array.from({ length: 50 }, (_, index) => histories.historyOf(`SIM${index}`));
  const change = async (): Promise<void> => {
    for (const phone of phones)
      phone.add({
        at: 1,
        kind: 'state',
        state: 'offline',
        step: null,
        reason: 'The host is stopping. '.repeat(500),
      });
    await histories.close();
  };
  const limitDisk = (pages: number) => store.thread.run({ text: `PRAGMA max_page_count = ${pages}` });
  await limitDisk(1);
  await change();
  await change();
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    msg: 'The histories of phones can not be written. Is the disk full?',
    reason: expect.stringContaining('full'),
  });
  expect(lines[0]).not.toContain('stack');
  await limitDisk(1_000_000);
  await change();
  expect(await store.thread.run({ text: 'SELECT key FROM phone_history' })).toHaveLength(50);
  await limitDisk(1);
  await change();
  expect(lines).toHaveLength(2);
  await store.close();
});
