import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { openDatabase, type Db } from '../db/database.ts';
import { prepareGit } from '../git/prepare-git.ts';
import { withEntry } from '../git/tree-paths.ts';
import { fileMode } from '../git/tree.ts';
import type { Principal } from '../http/principal.ts';
import { createGetLaunchable } from './project-files.ts';
import { createProjectAccess } from './project-access.ts';
import { createAccessStore } from '../access/store.ts';
import { ProjectRepositories } from './project-repositories.ts';
import { readSavedState, swapSavedState } from './saved-state.ts';
import { createProjectStore, type ProjectStore } from './store.ts';
import { findDamage, runUserGit } from './testing/test-projects.ts';

vi.setConfig({ testTimeout: 60_000 });

const folder = mkdtempSync(path.join(tmpdir(), 'phalanx-launchable-'));
const log = pino({ level: 'silent' });
let database: Db;
let store: ProjectStore;
let repositories: ProjectRepositories;

const principal = (userId: string): Principal => ({
  userId,
  userName: userId,
  role: 'user',
  tokenId: 'token',
  tokenName: 'test',
  scopes: new Set(['launch']),
  projectIds: null,
  expiresAt: null,
});

const writeText = (id: string, file: string, text: string): Promise<void> =>
  repositories.write(id, async (repository) => {
    const state = await readSavedState(repository);
    const entry = { mode: fileMode, id: await repository.writeBlob(text) };
    await swapSavedState(repository, state, {
      ...state,
      files: await withEntry(repository, state.files, file, entry),
    });
  });

async function createProject(): Promise<string> {
  const id = crypto.randomUUID();
  await repositories.create(id);
  await store.insertWithin({ id, owner_id: 'owner', name: id, created_at: 1 }, 100);
  return id;
}

beforeAll(async () => {
  database = await openDatabase(path.join(folder, 'phalanx.db'));
  const users = ['owner', 'editor', 'viewer'].map((id) => ({
    id,
    name: id,
    role: 'user' as const,
    created_at: 1,
  }));
  for (const user of users) await createAccessStore(database).insertUser(user);
  store = createProjectStore(database);
  const git = await prepareGit(path.join(folder, 'git'), process.env['PATH'] ?? '');
  repositories = new ProjectRepositories({ git, folder: path.join(folder, 'projects'), log });
  await repositories.sweep(() => true);
});
afterAll(async () => {
  await repositories.close();
  await database.destroy();
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
    await store.putMember(id, 'editor', 'shared_editor');
    await store.putMember(id, 'viewer', 'shared_viewer');
    const get = createGetLaunchable(createProjectAccess(store), repositories);
    expect(await get(id, principal('editor'))).toMatchObject({ projectId: id });
    for (const user of ['viewer', 'stranger'])
      await expect(get(id, principal(user))).rejects.toMatchObject({ code: 'project_not_found' });
    await expect(get('no-id', principal('owner'))).rejects.toMatchObject({ code: 'project_not_found' });
    const limited = { ...principal('owner'), projectIds: new Set(['another']) };
    await expect(get(id, limited)).rejects.toMatchObject({ code: 'project_not_found' });
  });
});

describe('the repositories of all projects', () => {
  it('are tidied up beside the writes, and nothing that is in use goes', async () => {
    const id = await createProject();
    const rounds = 60;
    for (let round = 0; round < rounds; round += 1) {
      const texts = Array.from({ length: 10 }, (_, index) => `${round} ${index}`);
      await Promise.all(texts.map((text, index) => writeText(id, `folder-${index}/file.txt`, text)));
      if (round % 15 === 0) repositories.noteWrite(id, 400);
    }
    const texts = await repositories.read(id, async (repository) => {
      const state = await readSavedState(repository);
      const { createProjectFiles } = await import('./project-files.ts');
      const files = createProjectFiles(id, state.files, (work) => work(repository));
      return Promise.all([...(await files.list()).keys()].map((file) => files.read(file)));
    });
    expect(new Set(texts)).toEqual(
      new Set(Array.from({ length: 10 }, (_, index) => `${rounds - 1} ${index}`)),
    );
    expect(await findDamage(repositories.gitDirOf(id))).toBe('');
  });

  it('let main catch up with a commit that a crash cut off from it', async () => {
    const id = await createProject();
    await writeText(id, 'a.txt', 'a');
    const gitDir = repositories.gitDirOf(id);
    await repositories.write(id, async (repository) => {
      const state = await readSavedState(repository);
      const { text } = await runUserGit(gitDir, ['commit-tree', state.files ?? '', '-m', 'made']);
      await swapSavedState(repository, state, { ...state, head: text.trim() });
    });
    expect((await runUserGit(gitDir, ['rev-parse', '--verify', 'main'])).code).not.toBe(0);
    const again = new ProjectRepositories({
      git: repositories.git,
      folder: path.join(folder, 'projects'),
      log,
    });
    const head = await again.read(id, async (repository) => (await readSavedState(repository)).head);
    expect((await runUserGit(gitDir, ['rev-parse', '--verify', 'main'])).text.trim()).toBe(head);
    await again.close();
  });

  it('are swept of those whose project is gone', async () => {
    const [kept, gone] = [await createProject(), await createProject()];
    await repositories.sweep((id) => id !== gone);
    await expect(repositories.read(gone, async () => 'there')).rejects.toMatchObject({
      code: 'project_not_found',
    });
    expect(await repositories.read(kept, async () => 'there')).toBe('there');
  });
});
