import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';

import { HistoryFolder } from './history-folder.ts';

it('a folder that is gone is told of once for all phones, without a stack, and again only after a success', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'phalanx-histories-'));
  onTestFinished(() => rm(parent, { recursive: true, force: true }));
  const folder = join(parent, 'phones');
  const lines: string[] = [];
  const sink = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      lines.push(chunk.toString());
      done();
    },
  });
  const histories = new HistoryFolder(folder, pino({ level: 'info' }, sink));
  await histories.load();
  const phones = Array.from({ length: 50 }, (_, index) => histories.historyOf(`SIM${index}`));
  const change = async (): Promise<void> => {
    for (const phone of phones)
      phone.add({ at: 1, kind: 'state', state: 'offline', step: null, reason: 'The host is stopping.' });
    await histories.close();
  };
  await rm(folder, { recursive: true });
  await change();
  await change();
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    msg: `The histories of phones in ${folder} can not be written`,
    reason: expect.stringContaining('ENOENT'),
  });
  expect(lines[0]).not.toContain('stack');
  await mkdir(folder);
  await change();
  expect(await readdir(folder)).toHaveLength(50);
  await rm(folder, { recursive: true });
  await change();
  expect(lines).toHaveLength(2);
});
