import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { ApiClient } from '@phalanx/client/api-client';
import { until } from '@phalanx/host/testing/until';
import { commitRoutes, fileRoutes, projectRoutes } from '@phalanx/protocol';
import { Client } from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { type PostgresEngine, startPostgres } from '../apps/server/src/testing/engines/postgres-engine.ts';
import { Program } from './support/program.ts';

const isHere = !(process.env['TEST_WITHOUT'] ?? '').split(' ').includes('postgresql');
const token = `admin-${randomUUID()}-${randomUUID()}`;

let folder: string;
const cleanUps: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'phalanx-postgres-backup-'));
  // PostgreSQL runs as a separate user.
  await chmod(folder, 0o755);
});
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
  await rm(folder, { recursive: true, force: true });
});

async function startEngine(options: Parameters<typeof startPostgres>[0] = {}): Promise<PostgresEngine> {
  const engine = await startPostgres(options);
  if (engine === undefined) throw new Error('PostgreSQL is not installed');
  cleanUps.push(() => engine.stop());
  return engine;
}

/** Returns a setting of PostgreSQL as printed in the operators' guide, with this folder as archive. */
async function printed(setting: string, archive: string): Promise<string> {
  const guide = await readFile(path.join(import.meta.dirname, '../docs/operating.md'), 'utf8');
  const [, value] = new RegExp(`^${setting} = '(.+)'$`, 'mv').exec(guide) ?? [];
  if (value === undefined) throw new Error(`docs/operating.md prints no ${setting}`);
  return value.replaceAll('/backups/wal', archive);
}

/** Runs a program of PostgreSQL for this engine. */
async function postgres({ url }: PostgresEngine, program: string, ...args: string[]): Promise<void> {
  const { hostname, port, username } = new URL(url);
  const env = { ...process.env, PGHOST: hostname, PGPORT: port, PGUSER: username };
  await promisify(execFile)(program, args, { env });
}

async function phalanx(databaseUrl: string, ...commandLine: string[]): Promise<string> {
  const program = new Program(commandLine, { PHALANX_DATABASE_URL: databaseUrl });
  await program.exited;
  expect({ code: program.exitCode, output: program.output }).toMatchObject({ code: 0 });
  return program.output;
}

async function startServer(databaseUrl: string, dataDir: string): Promise<ApiClient> {
  const server = new Program(['server'], {
    PHALANX_LISTEN: '127.0.0.1:0',
    PHALANX_DATA_DIR: dataDir,
    PHALANX_ADMIN_TOKEN: token,
    PHALANX_DATABASE_URL: databaseUrl,
  });
  cleanUps.push(() => server.end());
  const [, url = ''] = await server.printed(/Phalanx server is at (\S+)/);
  return new ApiClient({ url, token, retryForMs: 0 });
}

/** Too large for a database row. */
const large = randomBytes(400_000).toString('base64');

async function makeProject(api: ApiClient, name: string): Promise<string> {
  const { project } = await api.call(projectRoutes.create, { body: { name } });
  const params = { id: project.id };
  await api.call(fileRoutes.write, { params, body: { path: 'large.txt', content: large } });
  await api.call(commitRoutes.commit, { params, body: { message: 'with a large file' } });
  return project.id;
}

const readLarge = async (api: ApiClient, id: string): Promise<string> =>
  (await api.call(fileRoutes.read, { params: { id }, query: { path: 'large.txt' } })).content;

const allIsWell = expect.stringMatching(/no problems\.\n$/);

test.skipIf(!isHere)(
  'the tables and the files of a service that runs come back from their archives',
  async () => {
    const engine = await startEngine();
    await postgres(engine, 'createdb', 'phalanx');
    const [databaseUrl, dataDir] = [`${engine.url}/phalanx`, path.join(folder, 'data')];
    const api = await startServer(databaseUrl, dataDir);
    const id = await makeProject(api, 'saved on monday');
    const [dump, files] = [path.join(folder, 'monday.dump'), path.join(folder, 'monday-files.tar')];
    await postgres(engine, 'pg_dump', '--format=custom', `--file=${dump}`, 'phalanx');
    await phalanx(databaseUrl, 'backup', files, '--data-dir', dataDir);
    await api.call(projectRoutes.delete, { params: { id } });

    const [restoredUrl, restoredDir] = [`${engine.url}/restored`, path.join(folder, 'restored')];
    await postgres(engine, 'createdb', 'restored');
    await postgres(engine, 'pg_restore', '--dbname', 'restored', dump);
    await phalanx(restoredUrl, 'restore', files, '--data-dir', restoredDir);
    expect(await phalanx(restoredUrl, 'check', '--data-dir', restoredDir)).toEqual(allIsWell);
    expect(await readLarge(await startServer(restoredUrl, restoredDir), id)).toBe(large);
  },
);

test.skipIf(!isHere)('with the write-ahead log, a service goes back to any moment', async () => {
  const archive = path.join(folder, 'wal');
  const base = path.join(folder, 'base');
  await mkdir(archive);
  await chmod(archive, 0o777);
  const engine = await startEngine({
    settings: { archive_mode: 'on', archive_command: await printed('archive_command', archive) },
  });
  await postgres(engine, 'createdb', 'phalanx');
  await postgres(engine, 'pg_basebackup', `--pgdata=${base}`, '--checkpoint=fast');
  const [databaseUrl, dataDir] = [`${engine.url}/phalanx`, path.join(folder, 'data')];
  const api = await startServer(databaseUrl, dataDir);
  const id = await makeProject(api, 'deleted by mistake');
  const files = path.join(folder, 'files.tar');
  await phalanx(databaseUrl, 'backup', files, '--data-dir', dataDir);
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ now: string }>('SELECT clock_timestamp()::text AS now');
  await api.call(projectRoutes.delete, { params: { id } });
  const { rows: segments } = await client.query<{ name: string }>(
    'SELECT pg_walfile_name(pg_switch_wal()) AS name',
  );
  await client.end();
  const last = path.join(archive, segments[0]?.name ?? '');
  await until('the last of the write-ahead log to be archived', async () => existsSync(last), Boolean);
  await engine.stop();
  cleanUps.splice(0, 1);

  const recovered = await startEngine({
    backup: base,
    settings: {
      restore_command: await printed('restore_command', archive),
      recovery_target_time: rows[0]?.now ?? '',
      recovery_target_action: 'promote',
    },
  });
  const [recoveredUrl, recoveredDir] = [`${recovered.url}/phalanx`, path.join(folder, 'recovered')];
  await phalanx(recoveredUrl, 'restore', files, '--data-dir', recoveredDir);
  expect(await phalanx(recoveredUrl, 'check', '--data-dir', recoveredDir)).toEqual(allIsWell);
  expect(await readLarge(await startServer(recoveredUrl, recoveredDir), id)).toBe(large);
});
