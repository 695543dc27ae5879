import { chmod, mkdtemp, readdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

import { TestProject } from '../../../code/projects/testing/test-projects.ts';
import { isOnServers } from '../../../testing/engines/test-database.ts';
import { TestServer } from '../../../testing/test-server.ts';

const databaseFiles = isOnServers ? [] : ['phalanx.db', 'phalanx.db-wal'];

async function listOpen(folder: string): Promise<string[]> {
  const open: string[] = [];
  for (const name of await readdir(folder, { recursive: true }))
    if (((await stat(path.join(folder, name))).mode & 0o077) !== 0) open.push(name);
  return open;
}

it('everything that the service writes is for its user alone, also in a folder that is open to others', async () => {
  const umask = process.umask(0o022);
  onTestFinished(() => void process.umask(umask));
  // A world-writable folder, such as /tmp, stays open.
  const dataDir = await mkdtemp(path.join(tmpdir(), 'phalanx-open-'));
  await chmod(dataDir, 0o1777);
  const server = await TestServer.start({ dataDir });
  const { host, deviceId } = await server.connectHost();
  const { launchId, runId } = await server.startRun(host, deviceId);
  await host.log(runId, ['a line']);
  await expect.poll(() => server.logs(deviceId, [launchId])).toHaveLength(1);
  const project = await TestProject.create(server.api);
  await project.put('main.ts', 'console.log(1);');
  await project.mustCommit();
  const names = await readdir(dataDir);
  expect(names).toEqual(expect.arrayContaining([...databaseFiles, 'project-packs', 'project-cache']));
  expect(await listOpen(dataDir)).toEqual([]);
  await host.cut();
  await server.dispose();
});
