import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';

import { createApiCaller } from '../../../testing/api-caller.ts';
import { databaseSettings } from '../../../testing/engines/test-database.ts';
import { stringAt } from '../../../testing/string-at.ts';
import { adminToken } from '../../../testing/test-server.ts';
import { findDamage, gitDirOf, runUserGit, TestFolders, TestProject } from '../testing/test-projects.ts';

/** Number of rounds. For a long test: `TEST_KILL_ROUNDS=200 npm run test:engines -- repositories/crash`. */
const rounds = Number(process.env['TEST_KILL_ROUNDS'] ?? 8);
const writers = 4;
const folders = new TestFolders();
const program = fileURLToPath(new URL('../../../testing/server-process.ts', import.meta.url));
let server: ChildProcess | undefined;

afterAll(async () => {
  if (server?.pid !== undefined && server.exitCode === null && server.signalCode === null)
    process.kill(-server.pid, 'SIGKILL');
  await folders.removeAll();
});

async function start(dataDir: string): Promise<string> {
  server = spawn(process.execPath, [program], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'] ?? '',
      PHALANX_LISTEN: '127.0.0.1:0',
      PHALANX_DATA_DIR: dataDir,
      PHALANX_ADMIN_TOKEN: adminToken,
      PHALANX_LOG_LEVEL: 'silent',
      ...(await databaseSettings(dataDir)),
    },
  });
  if (server.stdout === null) throw new Error('no output');
  const lines = createInterface(server.stdout);
  const [url] = await once(lines, 'line');
  return String(url);
}

/** Kills the server alone, so that its git processes outlive it for a moment, or the server together with them. */
async function kill(isTogether: boolean): Promise<void> {
  const doomed = server;
  if (doomed?.pid === undefined) throw new Error('no server');
  const ended = once(doomed, 'exit');
  if (isTogether) process.kill(-doomed.pid, 'SIGKILL');
  else doomed.kill('SIGKILL');
  await ended;
}

/** State of the project as callers know it. */
interface Known {
  /** Numbers of each file: the last one whose write was acknowledged, and the last one that was sent. */
  files: { acknowledged: number; sent: number }[];
  /** Numbers of a pair of files, which change together in their own project. */
  pair: { acknowledged: number; sent: number };
  commits: string[];
  next: number;
}

const pairOf = (number: number): Record<string, string> =>
  Object.fromEntries(
    ['one.ts', 'two.ts'].map((name) => [name, `export const value: string = 'n${number}';\n`]),
  );

const nameOf = (writer: number): string => `folder-${writer % 2}/file-${writer}.ts`;

interface Projects {
  project: TestProject;
  pair: TestProject;
}

/** Writes and commits until the server is killed, after this many acknowledged requests. */
async function work(
  { project, pair }: Projects,
  known: Known,
  { killAfter, isTogether }: { killAfter: number; isTogether: boolean },
): Promise<void> {
  let left = killAfter;
  const state: { killed?: Promise<void> } = {};
  const acknowledge = (): void => {
    left -= 1;
    if (left === 0) state.killed = kill(isTogether);
  };
  const write = async (file: Known['files'][number], index: number): Promise<void> => {
    while (state.killed === undefined) {
      file.sent = known.next++;
      const reply = await project.write(nameOf(index), `export const value: string = 'n${file.sent}';\n`);
      expect(reply.status).toBe(200);
      file.acknowledged = file.sent;
      acknowledge();
    }
  };
  const replace = async (): Promise<void> => {
    while (state.killed === undefined) {
      const etag = await pair.etag();
      known.pair.sent = known.next++;
      expect((await pair.replace(pairOf(known.pair.sent), { etag })).status).toBe(200);
      known.pair.acknowledged = known.pair.sent;
      acknowledge();
    }
  };
  const commit = async (): Promise<void> => {
    while (state.killed === undefined) {
      const reply = await project.commit('a commit');
      expect([201, 400]).toContain(reply.status);
      if (reply.status !== 201) continue;
      known.commits.push(stringAt(reply.body['commit'], 'hash'));
      acknowledge();
    }
  };
  const ends = await Promise.allSettled([...known.files.map(write), replace(), commit()]);
  await state.killed;
  for (const end of ends) {
    // Allows only connection errors that the kill caused.
    if (end.status === 'rejected') expect(end.reason).toBeInstanceOf(TypeError);
  }
}

const numberIn = (text: string | undefined): number =>
  Number(/value\b.*= ["']n(\d+)["'];/.exec(text ?? '')?.[1] ?? -1);

async function checkPair(pair: TestProject, known: Known): Promise<void> {
  const names = ['one.ts', 'one.js', 'two.ts', 'two.js'];
  const values = await Promise.all(names.map(async (name) => numberIn(await pair.content(name))));
  const [value = -1] = values;
  expect(values).toEqual(names.map(() => value));
  expect([known.pair.acknowledged, known.pair.sent]).toContain(value);
  known.pair = { acknowledged: value, sent: value };
}

async function check(project: TestProject, known: Known, gitDir: string): Promise<void> {
  for (const [index, file] of known.files.entries()) {
    const source = numberIn(await project.content(nameOf(index)));
    const compiled = numberIn(await project.content(nameOf(index).replace('.ts', '.js')));
    expect(compiled).toBe(source);
    expect([file.acknowledged, file.sent]).toContain(source);
    file.acknowledged = source;
    file.sent = source;
  }
  const { text } = await runUserGit(gitDir, ['log', '--format=%H', 'main', '--']);
  const listed = text.split('\n');
  for (const hash of known.commits) expect(listed).toContain(hash);
  const { body } = await project.commits();
  const newest =
    Array.isArray(body['commits']) && body['commits'].length > 0 ? body['commits'][0] : undefined;
  if (newest !== undefined) expect(stringAt(newest, 'hash')).toBe(listed[0]);
  expect(await findDamage(gitDir)).toBe('');
}

it(
  `loses no acknowledged write or commit, and mixes none, in ${rounds} kills in the middle of writes`,
  async () => {
    const dataDir = folders.make();
    const known: Known = {
      files: Array.from({ length: writers }, () => ({ acknowledged: -1, sent: -1 })),
      pair: { acknowledged: -1, sent: -1 },
      commits: [],
      next: 1,
    };
    let id: string | undefined;
    let pairId: string | undefined;
    for (let round = 0; round <= rounds; round += 1) {
      const url = await start(dataDir);
      const api = createApiCaller(url, adminToken);
      id ??= (await TestProject.create(api)).id;
      pairId ??= (await TestProject.create(api)).id;
      const project = new TestProject(id, api);
      const pair = new TestProject(pairId, api);
      await check(project, known, await gitDirOf({ dataDir, urls: [url] }, project));
      await checkPair(pair, known);
      if (round === rounds) await kill(true);
      else
        await work({ project, pair }, known, {
          killAfter: 1 + ((round * 7) % 23),
          isTogether: round % 2 === 1,
        });
    }
    expect(known.commits.length).toBeGreaterThan(0);
  },
  60_000 + rounds * 60_000,
);
