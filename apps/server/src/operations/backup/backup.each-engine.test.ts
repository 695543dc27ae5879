import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { access, cp, mkdir, open, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SettingError } from '@phalanx/settings';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { Bucket } from '../../storage/blobs/s3/bucket.ts';
import { makeTestBucket } from '../../testing/engines/test-bucket.ts';
import { databaseSettings, engines, isOneServer, isOnServers } from '../../testing/engines/test-database.ts';
import { TestServer } from '../../testing/test-server.ts';
import { backUp } from './back-up.ts';
import { checkData } from './check-data.ts';
import { restore } from './restore.ts';

const searchPath = process.env['PATH'] ?? '';
let folder: string;
let server: TestServer;
let archive: string;

const placeOf = (dataDir: string) => ({ dataDir, databaseUrl: undefined, s3: undefined, searchPath });
const inFolder = (name: string): string => path.join(folder, name);

async function problemsAfter(name: string, damage: (dataDir: string) => Promise<unknown>): Promise<string> {
  const dataDir = inFolder(name);
  await restore(archive, dataDir);
  await damage(dataDir);
  return (await checkData(placeOf(dataDir))).problems.join('\n');
}

async function packsOf(dataDir: string): Promise<string[]> {
  const names = await readdir(path.join(dataDir, 'project-packs'), { recursive: true });
  return names
    .filter((name) => /^[^/]+\/[^/.]+$/.test(name))
    .map((name) => path.join(dataDir, 'project-packs', name));
}

async function overwrite(file: string, share: number, bytes = 64): Promise<void> {
  const at = Math.floor((await stat(file)).size * share);
  const handle = await open(file, 'r+');
  await handle.write(randomBytes(bytes), 0, bytes, at);
  await handle.close();
}

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'phalanx-backup-'));
  server = await TestServer.start({ engine: 'SQLite' });
  const id = await server.createProject();
  const body = { path: 'large.txt', content: randomBytes(400_000).toString('base64') };
  expect(await server.api('PUT', `/api/v2/automation/file/${id}`, { body })).toMatchObject({ status: 200 });
  archive = inFolder('whole.tar');
  await backUp(placeOf(server.dataDir), archive);
});
afterAll(async () => {
  await server.dispose();
  await rm(folder, { recursive: true });
});

it('a data folder is whole while its server works in it', async () => {
  expect(await checkData(placeOf(server.dataDir))).toEqual({ problems: [], files: 2, projects: 1 });
});

it('an archive is never written over, and a backup leaves nothing else', async () => {
  await expect(backUp(placeOf(server.dataDir), archive)).rejects.toThrow(/already exists/);
  expect(await readdir(server.dataDir)).not.toContain('backup');
  expect((await readdir(folder)).filter((name) => name.includes('partial'))).toEqual([]);
});

it('a folder that is not empty stays as it is', async () => {
  const dataDir = inFolder('used');
  await mkdir(dataDir);
  await writeFile(path.join(dataDir, 'mine'), 'precious');
  await expect(restore(archive, dataDir)).rejects.toThrow(SettingError);
  expect(await readdir(dataDir)).toEqual(['mine']);
});

it('a folder without a database is told in one line', async () => {
  await mkdir(inFolder('empty'));
  for (const place of [placeOf(inFolder('empty')), placeOf(inFolder('not there'))]) {
    await expect(backUp(place, inFolder('nothing.tar'))).rejects.toThrow(/has no database of Phalanx/);
    await expect(checkData(place)).rejects.toThrow(/has no database of Phalanx/);
  }
});

it('an archive that is not there is told in one line', async () => {
  const restored = restore(inFolder('nowhere.tar'), inFolder('of nowhere'));
  await expect(restored).rejects.toThrow(/^There is no file .*nowhere\.tar\.$/);
});

it.each([
  ['is cut off', async (file: string) => truncate(file, Math.floor((await stat(file)).size / 2))],
  ['has other bytes in a file', (file: string) => overwrite(file, 0.5)],
  ['is no archive', (file: string) => writeFile(file, randomBytes(2000))],
])('an archive that %s is refused and leaves nothing', async (_how, damage) => {
  const damaged = inFolder(`damaged-${crypto.randomUUID()}.tar`);
  await cp(archive, damaged);
  await damage(damaged);
  const dataDir = inFolder(`of-${path.basename(damaged)}`);
  await expect(restore(damaged, dataDir)).rejects.toThrow(
    /is not a complete backup: .* Nothing was restored\.$/,
  );
  await expect(access(dataDir)).rejects.toThrow('ENOENT');
  await mkdir(dataDir);
  await expect(restore(damaged, dataDir)).rejects.toThrow(/is not a complete backup/);
  expect(await readdir(dataDir)).toEqual([]);
});

it('a missing file, a damaged pack and a damaged database are found', async () => {
  expect(await problemsAfter('untouched', async () => undefined)).toBe('');
  const without = async (dataDir: string) => rm((await packsOf(dataDir))[0] ?? '');
  expect(await problemsAfter('without', without)).toMatch(
    /^missing: project-packs\/.+\nproject .*: a pack of it is missing$/,
  );
  const pack = async (dataDir: string) => overwrite((await packsOf(dataDir))[0] ?? '', 0.5);
  expect(await problemsAfter('pack', pack)).toMatch(/^project .*: git fsck ended with/);
  // Overwrites two database pages: damage in the unused space of a single page would go unnoticed.
  const database = async (dataDir: string) => overwrite(path.join(dataDir, 'phalanx.db'), 0.5, 8192);
  expect(await problemsAfter('database', database)).toMatch(/^database: /);
  const header = async (dataDir: string) => overwrite(path.join(dataDir, 'phalanx.db'), 0);
  expect(await problemsAfter('header', header)).toBe('database: file is not a database');
});

it('a backup of a folder in which a file is lost says which, and has all the rest', async () => {
  const dataDir = inFolder('lossy');
  await restore(archive, dataDir);
  const [lost = ''] = await packsOf(dataDir);
  await rm(lost);
  const { missing, files } = await backUp(placeOf(dataDir), inFolder('lossy.tar'));
  expect(missing).toEqual([path.relative(dataDir, lost)]);
  expect(files).toBe((await restore(archive, inFolder('again'))).files - 1);
});

it.for(engines)(
  'on %s an archive has the files that rows name, and the tables when they are files',
  async (engine, { skip }) => {
    skip(engine === 'PostgreSQL' && !isOneServer, 'several servers have the files in S3');
    const other = await TestServer.start({ engine });
    const id = await other.createProject();
    const body = { path: 'large.txt', content: randomBytes(400_000).toString('base64') };
    await other.api('PUT', `/api/v2/automation/file/${id}`, { body });
    const { PHALANX_DATABASE_URL: databaseUrl } = await databaseSettings(other.dataDir, engine);
    const file = inFolder(`on-${engine}.tar`);
    const { missing, database } = await backUp({ dataDir: other.dataDir, databaseUrl, s3: undefined }, file);
    expect({ missing, database }).toEqual({ missing: [], database: engine.toLowerCase() });
    const dataDir = inFolder(`on-${engine}`);
    await restore(file, dataDir);
    const isThere = (await readdir(dataDir)).includes('phalanx.db');
    expect(isThere).toBe(engine === 'SQLite');
    const report = await checkData({ dataDir, databaseUrl, s3: undefined, searchPath });
    expect(report).toEqual({ problems: [], files: 2, projects: 1 });
    await other.dispose();
  },
);

it.runIf(isOnServers)('what is in S3 is in no archive, and a check looks for it there', async () => {
  const s3 = await makeTestBucket();
  const other = await TestServer.start({ engine: 'SQLite', settings: s3.settings });
  const id = await other.createProject();
  const body = { path: 'large.txt', content: randomBytes(400_000).toString('base64') };
  await other.api('PUT', `/api/v2/automation/file/${id}`, { body });
  const place = { ...placeOf(other.dataDir), s3 };
  const { missing, files } = await backUp(place, inFolder('of-s3.tar'));
  // The archive contains only the database, because captures and large packs are in S3.
  expect({ missing, files }).toEqual({ missing: [], files: 1 });
  await restore(inFolder('of-s3.tar'), inFolder('of-s3'));
  const restored = { ...place, dataDir: inFolder('of-s3') };
  expect(await checkData(restored)).toEqual({ problems: [], files: 2, projects: 1 });
  const bucket = new Bucket(s3);
  await bucket.deleteBelow('project-packs/');
  bucket.close();
  const { problems } = await checkData(restored);
  expect(problems.toSorted()).toEqual([
    expect.stringMatching(/^missing: project-packs\/[^.]+$/),
    expect.stringMatching(/^missing: project-packs\/.+\.idx$/),
    expect.stringMatching(/^project .*: a pack of it is missing$/),
  ]);
  const wrong = checkData({ ...restored, s3: { ...s3, bucket: 'no-such-bucket' } });
  await expect(wrong).rejects.toThrow(/^The S3 storage cannot be used: /);
  await other.dispose();
});
