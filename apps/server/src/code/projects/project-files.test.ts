import { mkdtempSync } from 'node:fs';
import { access, mkdir, readdir, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestDatabase, defaultEngine } from '../../testing/engines/test-database.ts';
import { systemClock } from '../../kernel/clock.ts';
import type { Db } from '../../storage/db/database.ts';
import { GroupCommit } from '../../storage/db/group-commit.ts';
import type { GitProgram } from '../git/git-process.ts';
import { prepareGit } from '../git/prepare-git.ts';
import { findAt, withEntry } from '../git/tree-paths.ts';
import { fileMode } from '../git/git-objects.ts';
import type { Principal } from '../../http/requests/principal.ts';
import { createGetLaunchable, createProjectFiles } from './project-files.ts';
import { createProjectAccess } from './project-access.ts';
import { createAccessStore } from '../../http/access/store.ts';
import { FolderBlobs } from '../../storage/blobs/folder-blobs.ts';
import { LargePacks } from './packs/large-packs.ts';
import { createPackLogStore } from './packs/pack-log-store.ts';
import { ProjectRepositories } from './repositories/project-repositories.ts';
import { createProjectStore, type ProjectStore } from './store.ts';
import { findDamage } from './testing/test-projects.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'phalanx-launchable-'));
const log = pino({ level: 'silent' });
let database: Db;
let store: ProjectStore;
let git: GitProgram;
let repositories: ProjectRepositories;

const principal = (userId: string): Principal => ({
  userId,
  userName: userId,
  role: 'user',
  tokenId: 'token',
  tokenName: 'test',
  scopes: new Set(['launch']),
  projectIds: null,
  phones: null,
  budget: null,
  expiresAt: null,
});

const writeText = (id: string, file: string, text: string): Promise<void> =>
  repositories.write(id, async (draft, change) => {
    const entry = { mode: fileMode, id: draft.writeBlob(text) };
    change.save({ ...change.state, files: await withEntry(draft, change.state.files, file, entry) });
  });

async function createProject(): Promise<string> {
  const id = crypto.randomUUID();
  await store.insertWithin({ id, owner_id: 'owner', name: id, created_at: 1 }, 100);
  return id;
}

/** Opens repositories like one of several servers, with its own cache. */
async function openRepositories(cache: string): Promise<ProjectRepositories> {
  const opened = new ProjectRepositories({
    git,
    log,
    clock: systemClock,
    store: createPackLogStore(database, new GroupCommit(database)),
    large: new LargePacks(await FolderBlobs.open(path.join(folder, 'project-packs'))),
    cacheFolder: path.join(folder, cache),
  });
  await opened.open(() => true);
  return opened;
}

beforeAll(async () => {
  database = await openTestDatabase(defaultEngine);
  const users = ['owner', 'editor', 'viewer'].map((id) => ({
    id,
    name: id,
    role: 'user' as const,
    created_at: 1,
  }));
  for (const user of users) await createAccessStore(database).insertUser(user);
  store = createProjectStore(database);
  git = await prepareGit(path.join(folder, 'git'), process.env['PATH'] ?? '');
  repositories = await openRepositories('cache');
});
afterAll(async () => {
  await repositories.close();
  await rm(folder, { recursive: true });
});

describe('what can be launched', () => {
  it('is the project as it was at that moment, whatever is written later', async () => {
    const id = await createProject();
    const get = createGetLaunchable(createProjectAccess(store), repositories);
    expect(await get(id, principal('owner'))).toMatchObject({
      commit: null,
      dirty: false,
    });
    await writeText(id, 'main.ts', 'first');
    const first = await get(id.toUpperCase(), principal('owner'));
    await writeText(id, 'main.ts', 'second');
    await writeText(id, 'lib/more.ts', 'more');
    expect(first).toMatchObject({ projectId: id, commit: null, dirty: true });
    expect([...(await first.files.list()).keys()]).toEqual(['main.ts']);
    expect(await first.files.read('main.ts')).toBe('first');
    expect([await first.files.read('lib/more.ts'), await first.files.read('main.ts/x')]).toEqual([
      undefined,
      undefined,
    ]);
    const second = await get(id, principal('owner'));
    expect(second.files.treeId).not.toBe(first.files.treeId);
    expect([...(await second.files.list()).keys()].toSorted()).toEqual(['lib/more.ts', 'main.ts']);
  });

  it('is for owners and editors', async () => {
    const id = await createProject();
    await store.putMember({ projectId: id, userId: 'editor', role: 'shared_editor', now: 0 });
    await store.putMember({ projectId: id, userId: 'viewer', role: 'shared_viewer', now: 0 });
    const get = createGetLaunchable(createProjectAccess(store), repositories);
    expect(await get(id, principal('editor'))).toMatchObject({ projectId: id });
    for (const user of ['viewer', 'stranger'])
      await expect(get(id, principal(user))).rejects.toMatchObject({ code: 'project_not_found' });
    await expect(get('no-id', principal('owner'))).rejects.toMatchObject({ code: 'project_not_found' });
    const limited = { ...principal('owner'), projectIds: new Set(['another']) };
    await expect(get(id, limited)).rejects.toMatchObject({ code: 'project_not_found' });
  });
});

/** Reads the current contents of all files of a project. */
const readAll = (id: string, server = repositories): Promise<Record<string, string>> =>
  server.read(id, async (repository, state) => {
    const files = createProjectFiles(id, state.files, (work) => work(repository));
    const texts = [...(await files.list()).keys()].map(async (file) => [file, await files.read(file)]);
    return Object.fromEntries(await Promise.all(texts));
  });

describe('the repositories of all projects', () => {
  it('are packed anew beside the writes, and nothing that is in use goes', async () => {
    const id = await createProject();
    const rounds = 60;
    for (let round = 0; round < rounds; round += 1) {
      const texts = Array.from({ length: 10 }, (_, index) => `${round} ${index}`);
      await Promise.all(texts.map((text, index) => writeText(id, `folder-${index}/file.txt`, text)));
      if (round % 15 === 0) repositories.tidySoon(id);
    }
    const texts = Array.from({ length: 10 }, (_, index) => `${rounds - 1} ${index}`);
    expect(new Set(Object.values(await readAll(id)))).toEqual(new Set(texts));
    const packs = createPackLogStore(database, new GroupCommit(database));
    await expect.poll(async () => (await packs.listPacks(id)).length).toBeLessThan(rounds * 10);
    expect(await findDamage(repositories.gitDirOf(id))).toBe('');
    // Opens another server, which has seen none of these changes.
    const other = await openRepositories('other-cache');
    expect(new Set(Object.values(await readAll(id, other)))).toEqual(new Set(texts));
    expect(await findDamage(other.gitDirOf(id))).toBe('');
    await other.close();
  });

  it('are put back when they are gone, wholly or in part, while the service runs', async () => {
    const id = await createProject();
    await writeText(id, 'a.txt', 'a');
    await writeText(id, 'b.txt', 'b'.repeat(1000));
    const gitDir = repositories.gitDirOf(id);
    const packs = path.join(gitDir, 'objects', 'pack');
    const lose = [
      () => rm(gitDir, { recursive: true, maxRetries: 5 }),
      () => rm(path.join(gitDir, 'HEAD')),
      () => rm(packs, { recursive: true, maxRetries: 5 }),
      () => rm(path.join(folder, 'cache'), { recursive: true, maxRetries: 5 }),
    ];
    for (const [round, loseSome] of lose.entries()) {
      await readAll(id);
      await loseSome();
      await writeText(id, 'c.txt', `${round}`);
      expect(await readAll(id)).toEqual({ 'a.txt': 'a', 'b.txt': 'b'.repeat(1000), 'c.txt': `${round}` });
      expect(await findDamage(await repositories.prepareForGit(id))).toBe('');
    }
  });

  it('are put back when their files are damaged', async () => {
    const id = await createProject();
    await writeText(id, 'a.txt', 'a');
    await readAll(id);
    for (const end of ['.idx', '.pack']) {
      const packs = path.join(repositories.gitDirOf(id), 'objects', 'pack');
      for (const name of await readdir(packs))
        if (name.endsWith(end)) await truncate(path.join(packs, name), 10);
      const next = await openRepositories('cache');
      expect(await readAll(id, next)).toEqual({ 'a.txt': 'a' });
      expect(await findDamage(next.gitDirOf(id))).toBe('');
      await next.close();
    }
  });

  it('let several servers write to one project, each change after the other', async () => {
    const id = await createProject();
    const servers = [repositories, await openRepositories('second'), await openRepositories('third')];
    const rounds = 30;
    const append = (server: ProjectRepositories, text: string): Promise<void> =>
      server.write(id, async (draft, change) => {
        const { state } = change;
        const found = await findAt(draft, state.files, 'log.txt');
        const before = found.kind === 'file' ? String(await draft.readBlob(found.entry.id)) : '';
        const entry = { mode: fileMode, id: draft.writeBlob(`${before}${text}\n`) };
        change.save({ ...state, files: await withEntry(draft, state.files, 'log.txt', entry) });
      });
    const write = async (server: ProjectRepositories, name: number): Promise<void> => {
      for (let round = 0; round < rounds; round += 1) {
        await append(server, `${name} ${round}`);
        if (round % 10 === 5) server.tidySoon(id);
      }
    };
    await Promise.all(servers.map(write));
    for (const server of servers) {
      const lines = (await readAll(id, server))['log.txt']?.trim().split('\n') ?? [];
      expect(lines).toHaveLength(servers.length * rounds);
      for (const name of servers.keys())
        expect(lines.filter((line) => line.startsWith(`${name} `))).toEqual(
          Array.from({ length: rounds }, (_, round) => `${name} ${round}`),
        );
      expect(await findDamage(server.gitDirOf(id))).toBe('');
    }
    for (const server of servers.slice(1)) await server.close();
  });

  it('are gone with their project, and those that a crash left go at the next start', async () => {
    const [kept, gone] = [await createProject(), await createProject()];
    for (const id of [kept, gone]) await writeText(id, 'a.txt', 'a');
    expect(await repositories.delete(gone)).toBe(true);
    expect(await repositories.delete(gone)).toBe(false);
    await expect(repositories.read(gone, async () => 'there')).rejects.toMatchObject({
      code: 'project_not_found',
    });
    expect(await readAll(kept)).toEqual({ 'a.txt': 'a' });
    const stray = path.join(folder, 'left-cache', `${gone}.git`);
    const first = await openRepositories('left-cache');
    await first.close();
    await mkdir(stray, { recursive: true });
    const second = new ProjectRepositories({
      git,
      log,
      clock: systemClock,
      store: createPackLogStore(database, new GroupCommit(database)),
      large: new LargePacks(await FolderBlobs.open(path.join(folder, 'project-packs'))),
      cacheFolder: path.join(folder, 'left-cache'),
    });
    await second.open((id) => id !== gone);
    await expect(access(stray)).rejects.toThrow('ENOENT');
    await second.close();
  });
});
