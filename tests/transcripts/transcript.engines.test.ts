import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';

import { canBeSeveral } from '../../apps/server/src/testing/test-servers.ts';
import { recordTranscript } from './play.ts';

it.skipIf(!canBeSeveral)(
  'three servers with PostgreSQL, NATS and S3, asked in turn, answer what one server with SQLite answers',
  async () => {
    const { text, complaints } = await recordTranscript('cluster', 1);
    expect(complaints).toEqual([]);
    expect(text).toBe(await readFile(path.join(import.meta.dirname, 'golden.txt'), 'utf8'));
  },
);
