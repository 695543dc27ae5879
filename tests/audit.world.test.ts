import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { until } from '@phalanx/host/testing/until';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { readEntries } from '../apps/server/src/http/audit/testing/audit-reader.ts';
import { createApiCaller } from '../apps/server/src/testing/api-caller.ts';
import { stringAt } from '../apps/server/src/testing/string-at.ts';
import { Program } from './support/program.ts';

const adminToken = `admin-${randomUUID()}-${randomUUID()}`;
const lanes = 8;
const answersBeforeTheKill = 60;

let folder: string;
let server: Program;
let url: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'phalanx-audit-'));
  await start();
});
afterAll(async () => {
  await server.end();
  await rm(folder, { recursive: true, force: true });
});

async function start(): Promise<void> {
  server = new Program(['server'], {
    PHALANX_LISTEN: '127.0.0.1:0',
    PHALANX_DATA_DIR: folder,
    PHALANX_ADMIN_TOKEN: adminToken,
    PHALANX_LOG_LEVEL: 'warn',
  });
  [, url = ''] = await server.printed(/is at (http:\/\/\S+?)\.?\s/);
}

test('after kill -9 every change that was answered has its entry, once', async () => {
  const api = createApiCaller(url, adminToken);
  const answered: string[] = [];
  const lane = async (): Promise<void> => {
    for (;;) {
      const { body } = await api('POST', '/api/v2/users', { body: { name: randomUUID() } });
      answered.push(stringAt(body['user'], 'id'));
    }
  };
  // Each lane ends when its service does.
  const ended = Promise.allSettled(Array.from({ length: lanes }, lane));
  await until(
    'some changes',
    () => answered.length,
    (count) => count >= answersBeforeTheKill,
  );
  await server.end('SIGKILL');
  await ended;
  await start();
  const entries = await readEntries(createApiCaller(url, adminToken), {
    action: 'create_user',
    limit: '200',
  });
  const noted = entries.map(({ subject, count }) => [subject?.id, count]);
  expect(noted).toEqual(expect.arrayContaining(answered.map((id) => [id, 1])));
  expect(new Set(noted.map(([id]) => id)).size).toBe(noted.length);
});

// Runs in the service's second life, which finds them and creates none again.
test('the administrator and the tokens that the service makes itself are noted, each once', async () => {
  const own = (await readEntries(createApiCaller(url, adminToken))).filter(({ user }) => user === null);
  expect(own.map(({ action, subject, address }) => [action, subject?.name, address])).toEqual([
    ['create_token', 'PHALANX_ADMIN_TOKEN', null],
    ['create_user', 'administrator', null],
  ]);
});
